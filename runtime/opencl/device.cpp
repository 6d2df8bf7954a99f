// Implements runtime::Device with the classes of this folder.
#include "runtime/opencl/device.h"

#include "runtime/opencl/image.h"
#include "runtime/opencl/stream.h"

namespace scopevm::runtime::opencl {

// A lost device is not waited for: its work might never finish.
OpenClDevice::~OpenClDevice() {
  if (session_->queue.get() != nullptr && context_.health.status().ok())
    context_.api.clFinish(session_->queue.get());
}

void* OpenClDevice::allocate(int64_t bytes) {
  return health().ok() ? blocks_.allocate(bytes) : nullptr;
}

void* OpenClDevice::allocate_host(int64_t bytes, int64_t alignment) {
  return health().ok() ? host_blocks_.allocate(bytes, alignment) : nullptr;
}

void* OpenClDevice::allocate_shared(int64_t bytes, int64_t alignment) {
  return health().ok() ? shared_blocks_.allocate(bytes, alignment) : nullptr;
}

Result<std::unique_ptr<DeviceImage>> OpenClDevice::load(std::span<const uint8_t> image) {
  SCOPEVM_RETURN_IF_ERROR(health());
  return Image::build(session_->context, image);
}

Status OpenClDevice::enable_timing() {
  SCOPEVM_ASSIGN_OR_RETURN(session_->queue, make_queue(context_, /*has_times=*/true));
  session_->has_times = true;
  return {};
}

std::unique_ptr<DeviceStream> OpenClDevice::make_stream() {
  return std::make_unique<OpenClStream>(session_, blocks_, shared_blocks_);
}

}  // namespace scopevm::runtime::opencl
