// See the header.
#include "runtime/opencl/image.h"

#include <algorithm>

namespace scopevm::runtime::opencl {
namespace {

// Of a log: what goes into an error.
constexpr size_t kLongestLog = 4000;

std::string build_log(const Session& session, cl_program program) {
  size_t size = 0;
  if (session.api.clGetProgramBuildInfo(program, session.device, CL_PROGRAM_BUILD_LOG, 0, nullptr,
                                        &size) != CL_SUCCESS)
    return "";
  std::string log(size, '\0');
  if (session.api.clGetProgramBuildInfo(program, session.device, CL_PROGRAM_BUILD_LOG, size,
                                        log.data(), nullptr) != CL_SUCCESS)
    return "";
  log.resize(std::min({log.size(), log.find('\0'), kLongestLog}));
  while (!log.empty() && (log.back() == '\n' || log.back() == ' ')) log.pop_back();
  return log;
}

}  // namespace

Result<std::unique_ptr<DeviceImage>> Image::build(std::shared_ptr<const Session> session,
                                                  std::span<const uint8_t> text) {
  const std::string context = "kernels for " + session->description;
  if (text.empty()) return Status(StatusCode::kInvalidModel, context + ": the image is empty");
  const Api& api = session->api;
  const auto* source = reinterpret_cast<const char*>(text.data());
  const size_t size = text.size();
  cl_int error = CL_SUCCESS;
  Handle<cl_program> program(
      api.clCreateProgramWithSource(session->context.get(), 1, &source, &size, &error),
      api.clReleaseProgram);
  SCOPEVM_RETURN_IF_ERROR(check(error, "clCreateProgramWithSource").with_context(context));
  error = api.clBuildProgram(program.get(), 1, &session->device, session->build_options.c_str(),
                             nullptr, nullptr);
  if (error == CL_BUILD_PROGRAM_FAILURE)
    return Status(StatusCode::kInvalidModel, context + ": the driver cannot build them:\n" +
                                                 build_log(*session, program.get()));
  SCOPEVM_RETURN_IF_ERROR(check(error, "clBuildProgram").with_context(context));
  return std::unique_ptr<DeviceImage>(new Image(std::move(session), std::move(program)));
}

const DeviceKernel* Image::find(std::string_view symbol, int buffers, int params) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto known = kernels_.find(symbol);
  if (known == kernels_.end()) {
    const Api& api = session_->api;
    std::string name(symbol);
    cl_int error = CL_SUCCESS;
    Handle<cl_kernel> kernel(api.clCreateKernel(program_.get(), name.c_str(), &error),
                             api.clReleaseKernel);
    if (error != CL_SUCCESS || kernel.get() == nullptr) return nullptr;
    cl_uint arguments = 0;
    error = api.clGetKernelInfo(kernel.get(), CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments,
                                nullptr);
    // A buffer is two arguments; the grid and the items of a part follow.
    if (error != CL_SUCCESS || int64_t{arguments} != 2 * int64_t{buffers} + params + 2)
      return nullptr;
    auto made = std::make_unique<Kernel>(name, buffers, params, std::move(kernel));
    known = kernels_.emplace(std::move(name), std::move(made)).first;
  }
  const Kernel& kernel = *known->second;
  return kernel.buffers == buffers && kernel.params == params ? &kernel : nullptr;
}

}  // namespace scopevm::runtime::opencl
