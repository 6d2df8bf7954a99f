// See the header.
#include "runtime/opencl/blocks.h"

#include <sys/mman.h>

#include <algorithm>

namespace scopevm::runtime::opencl {
namespace {

constexpr int64_t kPage = 4096;

}  // namespace

Blocks::~Blocks() {
  for (const auto& [first, block] : blocks_) munmap(block.address, block.reserved);
}

void* Blocks::allocate(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  // A driver may promise more than it has and fail at the first use: the sum is held here.
  if (bytes < 0 || bytes > session_->memory_bytes - total_bytes_) return nullptr;
  // One address more than bytes, so that the end of a block is not the beginning of the next.
  const auto reserved = static_cast<size_t>((bytes / kPage + 1) * kPage);
  cl_int error = CL_SUCCESS;
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  // Memory that maps without a copy, where the host has it too.
  const cl_mem_flags flags =
      CL_MEM_READ_WRITE | (session_->shares_host_memory ? CL_MEM_ALLOC_HOST_PTR : 0);
  Block block{{session_->api.clCreateBuffer(session_->context.get(), flags, size, nullptr, &error),
               session_->api.clReleaseMemObject},
              bytes,
              nullptr,
              reserved};
  if (!session_->health.note(error, "clCreateBuffer").is_ok() || block.buffer.get() == nullptr)
    return nullptr;
  void* address =
      mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return nullptr;
  block.address = address;
  total_bytes_ += bytes;
  blocks_.emplace(reinterpret_cast<uintptr_t>(address), std::move(block));
  return address;
}

void Blocks::deallocate(void* address) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = blocks_.find(reinterpret_cast<uintptr_t>(address));
  if (found == blocks_.end()) return;
  munmap(address, found->second.reserved);
  total_bytes_ -= found->second.bytes;
  blocks_.erase(found);
}

Result<Place> Blocks::find(const void* address, int64_t bytes) const {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::lock_guard<std::mutex> lock(mutex_);
  auto next = blocks_.upper_bound(wanted);
  if (next != blocks_.begin()) {
    const auto& [first, block] = *std::prev(next);
    const uint64_t offset = wanted - first;
    const auto size = static_cast<uint64_t>(block.bytes);
    if (offset <= size && bytes >= 0 && static_cast<uint64_t>(bytes) <= size - offset)
      return Place{block.buffer.get(), offset};
  }
  return Status(StatusCode::kInternal,
                std::to_string(bytes) + " bytes that lie in no block of the device");
}

}  // namespace scopevm::runtime::opencl
