// Allocates shared virtual memory with clSVMAlloc; see shared_blocks.h.
#include "runtime/opencl/memory/shared_blocks.h"

namespace scopevm::runtime::opencl {

SharedBlocks::~SharedBlocks() {
  while (!blocks_.empty()) deallocate(blocks_.begin()->first);
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
  std::unique_ptr<void, Free> allocation(
      api.clSVMAlloc(context_->handle.get(), CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, size,
                     0),
      Free{context_.get()});
  if (allocation == nullptr) return nullptr;
  // OpenCL specifies that a buffer with CL_MEM_USE_HOST_PTR and an address of shared virtual memory
  // uses this memory.
  cl_int error = CL_SUCCESS;
  Handle<cl_mem> buffer(
      api.clCreateBuffer(context_->handle.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size,
                         allocation.get(), &error),
      api.clReleaseMemObject);
  if (!context_->health.note(error, "clCreateBuffer").ok() || buffer.get() == nullptr)
    return nullptr;
  const auto first = reinterpret_cast<uintptr_t>(allocation.get());
  const auto multiple = static_cast<uintptr_t>(alignment);
  char* const aligned =
      static_cast<char*>(allocation.get()) + (multiple - first % multiple) % multiple;
  std::lock_guard<std::mutex> lock(mutex_);
  blocks_.emplace(aligned, Block{std::move(allocation), std::move(buffer), bytes});
  return aligned;
}

void SharedBlocks::deallocate(const void* address) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return;
  context_->release(found->second.bytes);
  blocks_.erase(found);
}

std::optional<BufferOffset> SharedBlocks::find(const void* address) const {
  std::lock_guard<std::mutex> lock(mutex_);
  // Only the block before `next`, with the largest start at or below the address, can contain it.
  const auto next = blocks_.upper_bound(address);
  if (next == blocks_.begin()) return std::nullopt;
  const Block& block = std::prev(next)->second;
  const uint64_t offset =
      reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(block.allocation.get());
  if (offset > static_cast<uint64_t>(block.bytes)) return std::nullopt;
  return BufferOffset{block.buffer.get(), offset};
}

}  // namespace scopevm::runtime::opencl
