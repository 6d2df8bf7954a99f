// See window.h.
#include "plugins/mpi/window.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <random>
#include <string>

namespace scopevm::mpi {
namespace {

constexpr int64_t kPageBytes = 4096;
// Free memory consists of pieces. Addresses cost nothing.
constexpr uint64_t kMemories = 4;
constexpr uint64_t kMostBytes = uint64_t{1} << 40;

int64_t round_up(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

int64_t pages_of(int64_t bytes) { return round_up(bytes == 0 ? 1 : bytes, kPageBytes); }

void* map(int descriptor, uint64_t bytes, int protection) {
  void* const base = mmap(nullptr, bytes, protection, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  return base == MAP_FAILED ? nullptr : base;
}

}  // namespace

Window::~Window() {
  close_descriptor();
  if (base_ != nullptr) munmap(base_, static_cast<size_t>(bytes_));
}

void Window::open() {
  const auto memory =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
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
  free_[kPageBytes] = bytes_ - kPageBytes;
}

WindowName Window::name() const {
  return {getpid(), descriptor_, static_cast<uint64_t>(bytes_), token_};
}

void Window::close_descriptor() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

void* Window::allocate(int64_t bytes, int64_t alignment) {
  if (bytes < 0 || bytes > bytes_) return nullptr;
  const int64_t size = pages_of(bytes);
  std::lock_guard lock(mutex_);
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [first, length] = *range;
    const int64_t begin = round_up(first, alignment), end = first + length;
    if (begin > end - size) continue;
    free_.erase(range);
    if (begin > first) free_[first] = begin - first;
    if (end > begin + size) free_[begin + size] = end - begin - size;
    return base_ + begin;
  }
  return nullptr;
}

void Window::deallocate(void* block, int64_t bytes) {
  int64_t size = pages_of(bytes);
  int64_t begin = static_cast<std::byte*>(block) - base_;
  (void)madvise(block, static_cast<size_t>(size), MADV_REMOVE);
  std::lock_guard lock(mutex_);
  auto next = free_.lower_bound(begin);
  if (next != free_.begin())
    if (const auto before = std::prev(next); before->first + before->second == begin) {
      begin = before->first;
      size += before->second;
      free_.erase(before);
    }
  if (next != free_.end() && next->first == begin + size) {
    size += next->second;
    free_.erase(next);
  }
  free_[begin] = size;
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
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
