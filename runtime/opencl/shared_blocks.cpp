// Allocates shared virtual memory with clSVMAlloc; see shared_blocks.h.
#include "runtime/opencl/shared_blocks.h"

namespace scopevm::runtime::opencl {

SharedBlocks::~SharedBlocks() {
  while (!blocks_.empty()) deallocate(reinterpret_cast<void*>(blocks_.begin()->first));
}

void* SharedBlocks::allocate(int64_t bytes, int64_t alignment) {
  // clSVMAlloc supports alignments up to the size of the largest vector only. The slack allows a
  // larger one.
  if (!context_->shares_allocations || bytes < 0 || bytes > INT64_MAX - alignment) return nullptr;
  const int64_t size = bytes + alignment;
  if (!context_->reserve(size)) return nullptr;
  void* const address = make(size, alignment);
  if (address == nullptr) context_->release(size);
  return address;
}

void* SharedBlocks::make(int64_t bytes, int64_t alignment) {
  const Api& api = context_->api;
  const auto size = static_cast<size_t>(bytes);
  Block block{.bytes = bytes};
  block.allocation = api.clSVMAlloc(context_->handle.get(),
                                    CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, size, 0);
  if (block.allocation == nullptr) return nullptr;
  // OpenCL specifies that a buffer with CL_MEM_USE_HOST_PTR and an address of shared virtual memory
  // uses this memory.
  cl_int error = CL_SUCCESS;
  block.buffer = {
      api.clCreateBuffer(context_->handle.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size,
                         block.allocation, &error),
      api.clReleaseMemObject};
  if (!context_->health.note(error, "clCreateBuffer").ok() || block.buffer.get() == nullptr) {
    api.clSVMFree(context_->handle.get(), block.allocation);
    return nullptr;
  }
  const auto first = reinterpret_cast<uintptr_t>(block.allocation);
  const auto multiple = static_cast<uintptr_t>(alignment);
  void* const aligned =
      static_cast<char*>(block.allocation) + (multiple - first % multiple) % multiple;
  std::lock_guard<std::mutex> lock(mutex_);
  blocks_.emplace(reinterpret_cast<uintptr_t>(aligned), std::move(block));
  return aligned;
}

void SharedBlocks::deallocate(void* address) {
  Block block;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = blocks_.find(reinterpret_cast<uintptr_t>(address));
    if (found == blocks_.end()) return;
    block = std::move(found->second);
    blocks_.erase(found);
  }
  block.buffer = {};  // released before its memory
  context_->api.clSVMFree(context_->handle.get(), block.allocation);
  context_->release(block.bytes);
}

std::optional<BufferOffset> SharedBlocks::find(const void* address) const {
  std::lock_guard<std::mutex> lock(mutex_);
  // Only the block before `next`, with the largest start at or below the address, can contain it.
  const auto next = blocks_.upper_bound(reinterpret_cast<uintptr_t>(address));
  if (next == blocks_.begin()) return std::nullopt;
  const Block& block = std::prev(next)->second;
  const auto offset = static_cast<uint64_t>(static_cast<const char*>(address) -
                                            static_cast<char*>(block.allocation));
  if (offset > static_cast<uint64_t>(block.bytes)) return std::nullopt;
  return BufferOffset{block.buffer.get(), offset};
}

}  // namespace scopevm::runtime::opencl
