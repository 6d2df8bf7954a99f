// An OpenCL program built for a context, and its kernels.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "runtime/device/device.h"
#include "runtime/opencl/context.h"

namespace scopevm::runtime::opencl {

class Kernel final : public DeviceKernel {
 public:
  Kernel(std::string symbol, int buffers, int params, Handle<cl_kernel> kernel)
      : symbol(std::make_shared<const std::string>(std::move(symbol))),
        buffers(buffers),
        params(params),
        kernel(std::move(kernel)) {}

  // Shared with pending launches, which can outlive the image.
  const std::shared_ptr<const std::string> symbol;
  const int buffers;
  const int params;
  const Handle<cl_kernel> kernel;
  // Held from setting the first argument until the launch is enqueued, because the cl_kernel object
  // stores the arguments.
  mutable std::mutex arguments;
};

class Image final : public DeviceImage {
 public:
  // Builds the program from OpenCL C source. Images of one context with equal source share one
  // program. Errors: kInvalidModel (the source is empty, or does not build; the message has the
  // build log), kDevice (the driver failed).
  static Result<std::unique_ptr<DeviceImage>> build(std::shared_ptr<const Context> context,
                                                    std::span<const uint8_t> text);
  const DeviceKernel* find(std::string_view symbol, int buffers, int params) override;

 private:
  using Program = std::shared_ptr<const Handle<cl_program>>;
  Image(std::shared_ptr<const Context> context, Program program)
      : context_(std::move(context)), program_(std::move(program)) {}
  static Result<Program> build_text(const Context& context, std::string_view text);

  std::shared_ptr<const Context> context_;
  Program program_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels_;
};

}  // namespace scopevm::runtime::opencl
