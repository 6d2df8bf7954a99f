// See staging.h.
#include "plugins/mpi/staging.h"

#include <cstring>
#include <utility>

namespace scopevm::mpi {
namespace {

constexpr int64_t kBytes = int64_t{4} << 20;
// Of a message. The caches of a core do not have larger ones.
constexpr int64_t kLargest = int64_t{1} << 20;
constexpr int64_t kLine = 64;

}  // namespace

void copy_between_processes(void* to, const void* from, int64_t bytes) {
#if defined(__x86_64__)
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
  std::memcpy(to, from, static_cast<size_t>(bytes));
#endif
}

Staging::Block& Staging::Block::operator=(Block&& other) noexcept {
  if (this == &other) return *this;
  reset();
  staging_ = std::exchange(other.staging_, nullptr);
  offset_ = std::exchange(other.offset_, -1);
  bytes_ = other.bytes_;
  return *this;
}

void Staging::Block::reset() {
  if (staging_ != nullptr) staging_->free_.add(offset_, bytes_);
  staging_ = nullptr;
  offset_ = -1;
}

Staging::~Staging() {
  if (base_ != nullptr) window_.deallocate(base_, kBytes);
}

Staging::Block Staging::copy(const void* data, int64_t bytes) {
  if (bytes > kLargest) return {};
  if (!std::exchange(is_tried_, true)) {
    base_ = static_cast<std::byte*>(window_.allocate(kBytes, kLine));
    if (base_ != nullptr) free_.add(window_.offset_of(base_), kBytes);
  }
  // Blocks do not share lines.
  const int64_t size = (bytes + kLine - 1) / kLine * kLine;
  // Not the memory of the last message: the other core still has it in its caches.
  const int64_t offset = free_.take_next(size, kLine);
  if (offset < 0) return {};
  copy_between_processes(base_ + (offset - window_.offset_of(base_)), data, bytes);
  return {this, offset, size};
}

}  // namespace scopevm::mpi
