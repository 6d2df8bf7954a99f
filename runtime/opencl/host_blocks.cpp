// See the header.
#include "runtime/opencl/host_blocks.h"

#include <algorithm>

namespace scopevm::runtime::opencl {

HostBlocks::~HostBlocks() {
  for (const auto& [block, buffer] : buffers_) unmap(buffer.get(), block);
}

void* HostBlocks::allocate(int64_t bytes) {
  if (bytes < 0) return nullptr;
  const Context& context = *session_->context;
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  cl_int error = CL_SUCCESS;
  Handle<cl_mem> buffer(
      context.api.clCreateBuffer(context.handle.get(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                 size, nullptr, &error),
      context.api.clReleaseMemObject);
  if (!context.health.note(error, "clCreateBuffer").is_ok() || buffer.get() == nullptr)
    return nullptr;
  void* block = context.api.clEnqueueMapBuffer(session_->queue.get(), buffer.get(), CL_TRUE,
                                               CL_MAP_READ | CL_MAP_WRITE, 0, size, 0, nullptr,
                                               nullptr, &error);
  if (!context.health.note(error, "clEnqueueMapBuffer").is_ok() || block == nullptr) return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  buffers_.emplace(block, std::move(buffer));
  return block;
}

void HostBlocks::deallocate(void* block) {
  Handle<cl_mem> buffer;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = buffers_.find(block);
    if (found == buffers_.end()) return;
    buffer = std::move(found->second);
    buffers_.erase(found);
  }
  unmap(buffer.get(), block);
}

// The buffer's end waits for it, by the driver's own count.
void HostBlocks::unmap(cl_mem buffer, void* block) {
  const Context& context = *session_->context;
  (void)context.health.note(context.api.clEnqueueUnmapMemObject(session_->queue.get(), buffer,
                                                                block, 0, nullptr, nullptr),
                            "clEnqueueUnmapMemObject");
}

}  // namespace scopevm::runtime::opencl
