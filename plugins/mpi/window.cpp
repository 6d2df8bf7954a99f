// See window.h.
#include "plugins/mpi/window.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <string>

namespace scopevm::mpi {
namespace {

// Free memory consists of pieces. Addresses cost nothing.
constexpr uint64_t kMemories = 4;
constexpr uint64_t kMostBytes = uint64_t{1} << 40;

bool has_limit(int resource) {
  rlimit limit = {};
  return getrlimit(resource, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

void* map(int descriptor, uint64_t bytes, int protection) {
  void* const base = mmap(nullptr, bytes, protection, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (base == MAP_FAILED) return nullptr;
  // A core file would have all addresses.
  (void)madvise(base, bytes, MADV_DONTDUMP);
  return base;
}

}  // namespace

Window::~Window() {
  close_descriptor();
  if (base_ != nullptr) munmap(base_, static_cast<size_t>(bytes_));
}

void Window::open() {
  if (has_limit(RLIMIT_AS) || has_limit(RLIMIT_FSIZE)) return;
  page_bytes_ = sysconf(_SC_PAGESIZE);
  const uint64_t memory =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(page_bytes_);
  const uint64_t bytes = std::min(std::bit_ceil(memory * kMemories), kMostBytes);
  descriptor_ = memfd_create("scopevm", MFD_CLOEXEC);
  if (descriptor_ < 0) return;
  if (ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0)
    base_ = static_cast<std::byte*>(map(descriptor_, bytes, PROT_READ | PROT_WRITE));
  if (base_ == nullptr) return close_descriptor();
  bytes_ = static_cast<int64_t>(bytes);
  std::random_device random;
  token_ = uint64_t{random()} << 32 | random();
  std::memcpy(base_, &token_, sizeof token_);
  free_.add(page_bytes_, bytes_ - page_bytes_);
}

WindowName Window::name() const {
  return {getpid(), descriptor_, static_cast<uint64_t>(bytes_), token_};
}

void Window::close_descriptor() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

int64_t Window::pages_of(int64_t bytes) const {
  return (bytes == 0 ? 1 : (bytes - 1) / page_bytes_ + 1) * page_bytes_;
}

void* Window::allocate(int64_t bytes, int64_t alignment) {
  if (bytes < 0 || bytes > bytes_) return nullptr;
  const int64_t size = pages_of(bytes), base = reinterpret_cast<intptr_t>(base_);
  int64_t begin = -1;
  {
    std::lock_guard lock(mutex_);
    begin = free_.take(size, alignment, base);
  }
  if (begin < 0) return nullptr;
  // Memory that the system cannot supply would end the process at its first use.
  if (fallocate(descriptor_, 0, begin, size) == 0) return base_ + begin;
  std::lock_guard lock(mutex_);
  free_.add(begin, size);
  return nullptr;
}

void Window::deallocate(void* block, int64_t bytes) {
  const int64_t size = pages_of(bytes);
  (void)madvise(block, static_cast<size_t>(size), MADV_REMOVE);
  std::lock_guard lock(mutex_);
  free_.add(static_cast<std::byte*>(block) - base_, size);
}

int64_t Window::offset_of(const void* data) const {
  const auto* const at = static_cast<const std::byte*>(data);
  return base_ != nullptr && at >= base_ && at < base_ + bytes_ ? at - base_ : -1;
}

MappedWindow::~MappedWindow() {
  if (base_ != nullptr) munmap(const_cast<std::byte*>(base_), static_cast<size_t>(bytes_));
}

bool MappedWindow::open(const WindowName& name) {
  if (name.descriptor < 0) return false;
  const std::string path =
      "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.descriptor);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return false;
  // A process of another namespace can have the number: its file is another one.
  uint64_t token = 0;
  void* const base =
      pread(descriptor, &token, sizeof token, 0) == sizeof token && token == name.token
          ? map(descriptor, name.bytes, PROT_READ)
          : nullptr;
  close(descriptor);
  base_ = static_cast<const std::byte*>(base);
  bytes_ = static_cast<int64_t>(name.bytes);
  return base != nullptr;
}

}  // namespace scopevm::mpi
