// Builds OpenCL programs and creates their kernels; see image.h.
#include "runtime/opencl/image.h"

#include <algorithm>

namespace scopevm::runtime::opencl {
namespace {

// Maximum length of a build log in an error message.
constexpr size_t kLongestLog = 4000;

std::string build_log(const Context& context, cl_program program) {
  size_t size = 0;
  if (context.api.clGetProgramBuildInfo(program, context.device, CL_PROGRAM_BUILD_LOG, 0, nullptr,
                                        &size) != CL_SUCCESS)
    return "";
  std::string log(size, '\0');
  if (context.api.clGetProgramBuildInfo(program, context.device, CL_PROGRAM_BUILD_LOG, size,
                                        log.data(), nullptr) != CL_SUCCESS)
    return "";
  log.resize(std::min({log.size(), log.find('\0'), kLongestLog}));
  while (!log.empty() && (log.back() == '\n' || log.back() == ' ')) log.pop_back();
  return log;
}

}  // namespace

Result<Image::Program> Image::build_text(const Context& context, std::string_view text) {
  const Api& api = context.api;
  const char* source = text.data();
  const size_t size = text.size();
  cl_int error = CL_SUCCESS;
  Handle<cl_program> program(
      api.clCreateProgramWithSource(context.handle.get(), 1, &source, &size, &error),
      api.clReleaseProgram);
  SCOPEVM_RETURN_IF_ERROR(context.health.note(error, "clCreateProgramWithSource"));
  error = api.clBuildProgram(program.get(), 1, &context.device, context.build_options.c_str(),
                             nullptr, nullptr);
  if (error == CL_BUILD_PROGRAM_FAILURE)
    return Status(StatusCode::kInvalidModel, "the OpenCL driver cannot build the source:\n" +
                                                 build_log(context, program.get()));
  SCOPEVM_RETURN_IF_ERROR(context.health.note(error, "clBuildProgram"));
  return Program(std::make_shared<const Handle<cl_program>>(std::move(program)));
}

Result<std::unique_ptr<DeviceImage>> Image::build(std::shared_ptr<const Context> context,
                                                  std::span<const uint8_t> image) {
  const std::string where = "kernels for " + context->description;
  if (image.empty()) return Status(StatusCode::kInvalidModel, where + ": the image is empty");
  const std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
  Programs& programs = context->programs;
  std::lock_guard<std::mutex> lock(programs.mutex);
  const auto known = programs.by_text.find(text);
  // The cache has weak references, so that it does not keep the programs of closed sessions.
  Program program = known == programs.by_text.end() ? nullptr : known->second.lock();
  if (program == nullptr) {
    Result<Program> built = build_text(*context, text);
    if (!built.ok()) return Status(built.status()).with_context(where);
    program = *std::move(built);
    std::erase_if(programs.by_text, [](const auto& entry) { return entry.second.expired(); });
    programs.by_text.insert_or_assign(std::string(text), program);
  }
  return std::unique_ptr<DeviceImage>(new Image(std::move(context), std::move(program)));
}

const DeviceKernel* Image::find(std::string_view symbol, int buffers, int params) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto known = kernels_.find(symbol);
  if (known == kernels_.end()) {
    const Api& api = context_->api;
    std::string name(symbol);
    cl_int error = CL_SUCCESS;
    Handle<cl_kernel> kernel(api.clCreateKernel(program_->get(), name.c_str(), &error),
                             api.clReleaseKernel);
    if (error != CL_SUCCESS || kernel.get() == nullptr) return nullptr;
    cl_uint arguments = 0;
    error = api.clGetKernelInfo(kernel.get(), CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments,
                                nullptr);
    // Kernel arguments: two per buffer, the params, the grid, and the number of items per range.
    // A mismatch would make clSetKernelArg fail at the first launch.
    if (error != CL_SUCCESS || int64_t{arguments} != 2 * int64_t{buffers} + params + 2)
      return nullptr;
    auto made = std::make_unique<Kernel>(name, buffers, params, std::move(kernel));
    known = kernels_.emplace(std::move(name), std::move(made)).first;
  }
  const Kernel& kernel = *known->second;
  return kernel.buffers == buffers && kernel.params == params ? &kernel : nullptr;
}

}  // namespace scopevm::runtime::opencl
