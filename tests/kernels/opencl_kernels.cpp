// Implements opencl_kernels.h on the runtime's device interface.
#include "tests/kernels/opencl_kernels.h"

#include <map>

#include "runtime/opencl/opencl.h"

namespace scopevm::compiler::testing {

Result<std::unique_ptr<OpenClKernels>> OpenClKernels::load(const std::string& text,
                                                           const std::vector<Kernel>& table) {
  std::unique_ptr<OpenClKernels> loaded(new OpenClKernels());
  // All tests share one device, because opening a device takes longer than most tests.
  static const Result<std::shared_ptr<runtime::Device>> device = runtime::open_opencl_device(0);
  if (!device.ok()) return device.status();
  loaded->device_ = *device;
  loaded->stream_ = loaded->device_->make_stream();
  SCOPEVM_ASSIGN_OR_RETURN(
      loaded->image_,
      loaded->device_->load({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
  for (const Kernel& kernel : table) {
    loaded->kernels_.push_back(
        loaded->image_->find(kernel.symbol, kernel.buffer_count, kernel.param_count));
    if (loaded->kernels_.back() == nullptr)
      return Status(StatusCode::kInternal, "the text has no kernel " + kernel.symbol);
  }
  return loaded;
}

Status OpenClKernels::run(KernelIndex kernel, const std::vector<std::span<uint8_t>>& buffers,
                          const std::vector<int64_t>& params, int64_t grid, int64_t pieces) {
  std::map<uint8_t*, void*> blocks;
  std::vector<void*> addresses;
  Status status;
  for (std::span<uint8_t> buffer : buffers) {
    const auto bytes = static_cast<int64_t>(buffer.size());
    void*& block = blocks[buffer.data()];
    if (block == nullptr) {
      block = device_->allocate(bytes);
      if (block == nullptr)
        status = {StatusCode::kOutOfMemory, "no room on the device"};
      else
        status = stream_->copy_in(block, buffer.data(), bytes);
    }
    addresses.push_back(static_cast<uint8_t*>(block) + kGuardBytes);
    if (!status.ok()) break;
  }
  if (status.ok())
    status = stream_->launch({kernels_[kernel.value], addresses, params, grid,
                              /*grain=*/1, /*workers=*/pieces});
  for (std::span<uint8_t> buffer : buffers) {
    void* block = blocks[buffer.data()];
    if (block == nullptr) continue;
    if (status.ok())
      status = stream_->copy_out(buffer.data(), block, static_cast<int64_t>(buffer.size()));
    device_->deallocate(block, static_cast<int64_t>(buffer.size()));
    blocks[buffer.data()] = nullptr;
  }
  Status finished = stream_->finish();
  return status.ok() ? finished : status;
}

}  // namespace scopevm::compiler::testing
