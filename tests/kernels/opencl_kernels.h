// Builds kernels from OpenCL C source and launches them on the machine's first OpenCL device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/program/program.h"
#include "runtime/device/device.h"

namespace scopevm::compiler::testing {

class OpenClKernels {
 public:
  static constexpr size_t kGuardBytes = 64;

  // Builds `text`, OpenCL C source that contains the kernels of `table`.
  static Result<std::unique_ptr<OpenClKernels>> load(const std::string& text,
                                                     const std::vector<Kernel>& table);

  // Copies the buffers to the device, launches the kernel over `pieces` workers, and copies the
  // buffers back. Each buffer begins and ends with kGuardBytes bytes that the kernel must not
  // access. `buffers` may contain the same memory twice.
  Status run(KernelIndex kernel, const std::vector<std::span<uint8_t>>& buffers,
             const std::vector<int64_t>& params, int64_t grid, int64_t pieces);

 private:
  OpenClKernels() = default;

  std::shared_ptr<runtime::Device> device_;
  std::unique_ptr<runtime::DeviceImage> image_;
  std::unique_ptr<runtime::DeviceStream> stream_;
  std::vector<const runtime::DeviceKernel*> kernels_;
};

}  // namespace scopevm::compiler::testing
