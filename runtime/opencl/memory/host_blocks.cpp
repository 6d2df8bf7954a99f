// Allocates pinned host memory with CL_MEM_ALLOC_HOST_PTR; see host_blocks.h.
#include "runtime/opencl/memory/host_blocks.h"

#include <algorithm>

#include "scopevm/allocator.h"

namespace scopevm::runtime::opencl {

HostBlocks::~HostBlocks() {
  for (const auto& [address, block] : blocks_) {
    unmap(block);
    session_->context->release(block.bytes);
  }
}

void* HostBlocks::allocate(int64_t bytes, int64_t alignment) {
  // Drivers are assumed to align mapped addresses to at least kBlockAlignment, usually to a page.
  // The slack allows a larger alignment.
  const int64_t slack = alignment > kBlockAlignment ? alignment : 0;
  if (bytes < 0 || bytes > INT64_MAX - slack) return nullptr;
  const Context& context = *session_->context;
  const int64_t size = std::max<int64_t>(bytes + slack, 1);
  // On a discrete device these blocks take none of the device's memory.
  const int64_t reserved = context.shares_host_memory ? size : 0;
  if (!context.reserve(reserved)) return nullptr;
  void* block = make(size, alignment, reserved);
  if (block == nullptr) context.release(reserved);
  return block;
}

void* HostBlocks::make(int64_t bytes, int64_t alignment, int64_t reserved) {
  const Context& context = *session_->context;
  const auto size = static_cast<size_t>(bytes);
  cl_int error = CL_SUCCESS;
  Block block{
      {context.api.clCreateBuffer(context.handle.get(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                  size, nullptr, &error),
       context.api.clReleaseMemObject},
      nullptr,
      reserved};
  if (!context.health.note(error, "clCreateBuffer").ok() || block.buffer.get() == nullptr)
    return nullptr;
  // The buffer remains mapped, because the mapped address is that of the pinned pages.
  block.mapped = context.api.clEnqueueMapBuffer(session_->queue.get(), block.buffer.get(), CL_TRUE,
                                                CL_MAP_READ | CL_MAP_WRITE, 0, size, 0, nullptr,
                                                nullptr, &error);
  if (!context.health.note(error, "clEnqueueMapBuffer").ok() || block.mapped == nullptr)
    return nullptr;
  const auto first = reinterpret_cast<uintptr_t>(block.mapped);
  const auto multiple = static_cast<uintptr_t>(alignment);
  void* const aligned = static_cast<char*>(block.mapped) + (multiple - first % multiple) % multiple;
  std::lock_guard<std::mutex> lock(mutex_);
  blocks_.emplace(aligned, std::move(block));
  return aligned;
}

void HostBlocks::deallocate(void* address) {
  Block block;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = blocks_.find(address);
    if (found == blocks_.end()) return;
    // Unmapped outside the lock, because the wait can be long.
    block = std::move(found->second);
    blocks_.erase(found);
  }
  unmap(block);
  session_->context->release(block.bytes);
}

// Unmaps the buffer and waits, because it must be unmapped before it is released. On a lost device
// no command is enqueued: the buffer is released while mapped.
void HostBlocks::unmap(const Block& block) {
  const Context& context = *session_->context;
  if (!context.health.status().ok()) return;
  cl_event event = nullptr;
  const cl_int error = context.api.clEnqueueUnmapMemObject(
      session_->queue.get(), block.buffer.get(), block.mapped, 0, nullptr, &event);
  if (!context.health.note(error, "clEnqueueUnmapMemObject").ok()) return;
  const Handle<cl_event> unmapped(event, context.api.clReleaseEvent);
  (void)context.health.note(context.api.clWaitForEvents(1, &event), "clWaitForEvents");
}

}  // namespace scopevm::runtime::opencl
