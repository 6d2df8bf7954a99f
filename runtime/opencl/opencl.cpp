// Enumerates OpenCL devices, and creates contexts and queues; see opencl.h.
#include "runtime/opencl/opencl.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>

#include "runtime/opencl/device.h"
#include "scopevm/allocator.h"

namespace scopevm::runtime {
namespace opencl {
namespace {

struct Found {
  cl_platform_id platform;
  cl_device_id device;
};

std::string text_of(std::string text) {
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

std::string platform_name(const Api& api, cl_platform_id platform) {
  size_t size = 0;
  if (api.clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, nullptr, &size) != CL_SUCCESS) return "";
  std::string text(size, '\0');
  if (api.clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, text.data(), nullptr) != CL_SUCCESS)
    return "";
  return text_of(std::move(text));
}

std::string device_text(const Api& api, cl_device_id device, cl_device_info what) {
  size_t size = 0;
  if (api.clGetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS) return "";
  std::string text(size, '\0');
  if (api.clGetDeviceInfo(device, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
  return text_of(std::move(text));
}

template <typename T>
int64_t device_number(const Api& api, cl_device_id device, cl_device_info what) {
  T value{};
  // A property that the device does not report counts as 0.
  if (api.clGetDeviceInfo(device, what, sizeof value, &value, nullptr) != CL_SUCCESS) return 0;
  return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX));
}

Result<std::vector<Found>> find_devices(const Api& api) {
  cl_uint count = 0;
  cl_int error = api.clGetPlatformIDs(0, nullptr, &count);
  if (error == CL_PLATFORM_NOT_FOUND_KHR || (error == CL_SUCCESS && count == 0))
    return Status(StatusCode::kNotFound,
                  "no OpenCL platform: the OpenCL library is installed, but no device driver");
  SCOPEVM_RETURN_IF_ERROR(check(error, "clGetPlatformIDs"));
  std::vector<cl_platform_id> platforms(count);
  SCOPEVM_RETURN_IF_ERROR(
      check(api.clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs"));
  std::vector<Found> found;
  for (cl_platform_id platform : platforms) {
    error = api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
    if (error == CL_DEVICE_NOT_FOUND) continue;
    SCOPEVM_RETURN_IF_ERROR(check(error, "clGetDeviceIDs"));
    std::vector<cl_device_id> devices(count);
    error = api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
    SCOPEVM_RETURN_IF_ERROR(check(error, "clGetDeviceIDs"));
    for (cl_device_id device : devices) found.push_back({platform, device});
  }
  return found;
}

OpenClDeviceFacts facts_of(const Api& api, const Found& found) {
  const cl_device_id device = found.device;
  OpenClDeviceFacts facts;
  facts.name = device_text(api, device, CL_DEVICE_NAME);
  facts.platform = platform_name(api, found.platform);
  facts.driver_version = device_text(api, device, CL_DRIVER_VERSION);
  facts.memory_bytes = device_number<cl_ulong>(api, device, CL_DEVICE_GLOBAL_MEM_SIZE);
  facts.largest_block_bytes = device_number<cl_ulong>(api, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  facts.compute_units = device_number<cl_uint>(api, device, CL_DEVICE_MAX_COMPUTE_UNITS);
  facts.shares_host_memory = device_number<cl_bool>(api, device, CL_DEVICE_HOST_UNIFIED_MEMORY);
  facts.base_alignment_bytes =
      // OpenCL states this alignment in bits.
      device_number<cl_uint>(api, device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  facts.has_f64 = device_number<cl_ulong>(api, device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  return facts;
}

// Whether the device has fine-grained shared virtual memory. Coarse-grained memory would have to be
// mapped for each access of the host.
bool shares_allocations(const Api& api, cl_device_id device) {
  const auto features =
      device_number<cl_device_svm_capabilities>(api, device, CL_DEVICE_SVM_CAPABILITIES);
  return api.clSVMAlloc != nullptr && (features & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
}

// Excludes options that reduce accuracy, because results must equal those of the host CPU up to
// rounding.
std::string build_options(const Api& api, cl_device_id device) {
  const auto f32 = device_number<cl_device_fp_config>(api, device, CL_DEVICE_SINGLE_FP_CONFIG);
  const bool can_round = (f32 & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  return std::string("-cl-std=CL1.2") +
         (can_round ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
}

std::string describe(const OpenClDeviceFacts& facts) {
  return facts.name + " (" + facts.platform + ", driver " + facts.driver_version + ")";
}

Status no_such_device(const Api& api, int number, const std::vector<Found>& found) {
  std::string message = "no OpenCL device " + std::to_string(number) + "; the devices are:";
  if (found.empty()) message = "no OpenCL device: the OpenCL platforms have no devices";
  for (size_t i = 0; i < found.size(); ++i)
    message += "\n  " + std::to_string(i) + ": " + describe(facts_of(api, found[i]));
  return {StatusCode::kNotFound, message};
}

int64_t block_alignment(const OpenClDeviceFacts& facts) {
  const auto reported = std::bit_floor(static_cast<uint64_t>(facts.base_alignment_bytes));
  return std::max(kBlockAlignment, static_cast<int64_t>(reported));
}

Result<std::shared_ptr<const Context>> make_context(const Api& api, const Found& chosen) {
  const OpenClDeviceFacts facts = facts_of(api, chosen);
  const std::string description = describe(facts);
  // Queried again, because facts_of() ignores errors: with a size of 0, no block could be
  // allocated.
  cl_ulong memory_bytes = 0;
  cl_int error = api.clGetDeviceInfo(chosen.device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory_bytes,
                                     &memory_bytes, nullptr);
  SCOPEVM_RETURN_IF_ERROR(check(error, "clGetDeviceInfo").with_context(description));
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(chosen.platform), 0};
  Handle<cl_context> context(
      api.clCreateContext(properties, 1, &chosen.device, nullptr, nullptr, &error),
      api.clReleaseContext);
  SCOPEVM_RETURN_IF_ERROR(check(error, "clCreateContext").with_context(description));
  return std::shared_ptr<const Context>(new Context{
      api, chosen.device, description,
      static_cast<int64_t>(std::min<uint64_t>(memory_bytes, INT64_MAX)), block_alignment(facts),
      facts.shares_host_memory, shares_allocations(api, chosen.device),
      build_options(api, chosen.device), std::move(context)});
}

// Returns the device's open context if there is one, no call has failed in it, and the device is
// not lost. Otherwise creates a context.
Result<std::shared_ptr<const Context>> context_of(const Api& api, const Found& chosen) {
  static std::mutex mutex;
  static std::map<std::pair<const Api*, cl_device_id>, std::weak_ptr<const Context>> contexts;
  std::lock_guard<std::mutex> lock(mutex);
  std::weak_ptr<const Context>& known = contexts[{&api, chosen.device}];
  if (std::shared_ptr<const Context> open = known.lock();
      // Sharing lets sessions on one device share programs and the memory limit.
      open && open->health.status().ok() && !open->has_failed)
    return open;
  SCOPEVM_ASSIGN_OR_RETURN(std::shared_ptr<const Context> made, make_context(api, chosen));
  known = made;
  return made;
}

}  // namespace

Result<Handle<cl_command_queue>> make_queue(const Context& context, bool has_times) {
  cl_int error = CL_SUCCESS;
  Handle<cl_command_queue> queue(
      context.api.clCreateCommandQueue(context.handle.get(), context.device,
                                       has_times ? CL_QUEUE_PROFILING_ENABLE : 0, &error),
      context.api.clReleaseCommandQueue);
  SCOPEVM_RETURN_IF_ERROR(
      context.health.note(error, "clCreateCommandQueue").with_context(context.description));
  return queue;
}

Result<std::vector<OpenClDeviceFacts>> list_devices(const Api& api) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<Found> found, find_devices(api));
  std::vector<OpenClDeviceFacts> devices;
  for (const Found& one : found) devices.push_back(facts_of(api, one));
  return devices;
}

Result<std::shared_ptr<Device>> open_device(const Api& api, int number) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<Found> found, find_devices(api));
  if (number < 0 || static_cast<size_t>(number) >= found.size())
    return no_such_device(api, number, found);
  SCOPEVM_ASSIGN_OR_RETURN(std::shared_ptr<const Context> context,
                           context_of(api, found[static_cast<size_t>(number)]));
  SCOPEVM_ASSIGN_OR_RETURN(Handle<cl_command_queue> queue,
                           make_queue(*context, /*has_times=*/false));
  return std::shared_ptr<Device>(std::make_shared<OpenClDevice>(
      std::make_shared<Session>(Session{std::move(context), std::move(queue)})));
}

}  // namespace opencl

Result<std::vector<OpenClDeviceFacts>> list_opencl_devices() {
  SCOPEVM_ASSIGN_OR_RETURN(const opencl::Api* api, opencl::load_api());
  return opencl::list_devices(*api);
}

Result<std::shared_ptr<Device>> open_opencl_device(int number) {
  SCOPEVM_ASSIGN_OR_RETURN(const opencl::Api* api, opencl::load_api());
  return opencl::open_device(*api, number);
}

}  // namespace scopevm::runtime
