// See the header.
#include "runtime/opencl/device.h"

#include <algorithm>

namespace scopevm::runtime::opencl {
namespace {

// Launches whose end is watched for. The oldest is let go: its failure fails what is behind it.
constexpr size_t kMostPending = 64;

Status set_argument(const Api& api, const Kernel& kernel, cl_uint& index, size_t size,
                    const void* value) {
  return check(api.clSetKernelArg(kernel.kernel.get(), index++, size, value), "clSetKernelArg");
}

}  // namespace

OpenClDevice::~OpenClDevice() {
  if (session_->queue.get() != nullptr) session_->api.clFinish(session_->queue.get());
}

void OpenClDevice::deallocate(void* block, int64_t) { blocks_.deallocate(block); }

Result<std::unique_ptr<DeviceImage>> OpenClDevice::load(std::span<const uint8_t> image) {
  return Image::build(session_, image);
}

Status OpenClDevice::copy_in(void* to, const void* from_host, int64_t bytes) {
  if (bytes == 0) return {};
  SCOPEVM_ASSIGN_OR_RETURN(const Place place, blocks_.find(to, bytes));
  return answer(session_->api.clEnqueueWriteBuffer(session_->queue.get(), place.buffer, CL_TRUE,
                                                   place.offset, static_cast<size_t>(bytes),
                                                   from_host, 0, nullptr, nullptr),
                "clEnqueueWriteBuffer");
}

Status OpenClDevice::copy_out(void* to_host, const void* from, int64_t bytes) {
  if (bytes == 0) return {};
  SCOPEVM_ASSIGN_OR_RETURN(const Place place, blocks_.find(from, bytes));
  return answer(
      session_->api.clEnqueueReadBuffer(session_->queue.get(), place.buffer, CL_TRUE, place.offset,
                                        static_cast<size_t>(bytes), to_host, 0, nullptr, nullptr),
      "clEnqueueReadBuffer");
}

Status OpenClDevice::copy_within(void* to, const void* from, int64_t bytes) {
  if (bytes == 0 || to == from) return {};
  SCOPEVM_ASSIGN_OR_RETURN(const Place target, blocks_.find(to, bytes));
  SCOPEVM_ASSIGN_OR_RETURN(const Place source, blocks_.find(from, bytes));
  return answer(session_->api.clEnqueueCopyBuffer(session_->queue.get(), source.buffer,
                                                  target.buffer, source.offset, target.offset,
                                                  static_cast<size_t>(bytes), 0, nullptr, nullptr),
                "clEnqueueCopyBuffer");
}

Result<std::vector<Place>> OpenClDevice::find_all(std::span<void* const> buffers) const {
  std::vector<Place> places;
  for (size_t i = 0; i < buffers.size(); ++i) {
    Result<Place> place = blocks_.find(buffers[i], 0);
    if (!place.is_ok())
      return std::move(place).status().with_context("buffer " + std::to_string(i));
    places.push_back(*place);
  }
  return places;
}

Status OpenClDevice::set_arguments(const Kernel& kernel, const std::vector<Place>& places,
                                   const DeviceLaunch& launch, int64_t per_item) const {
  const Api& api = session_->api;
  cl_uint index = 0;
  for (const Place& place : places) {
    const cl_ulong offset = place.offset;
    SCOPEVM_RETURN_IF_ERROR(
        set_argument(api, kernel, index, sizeof(cl_mem), static_cast<const void*>(&place.buffer)));
    SCOPEVM_RETURN_IF_ERROR(set_argument(api, kernel, index, sizeof offset, &offset));
  }
  for (const cl_long param : launch.params)
    SCOPEVM_RETURN_IF_ERROR(set_argument(api, kernel, index, sizeof param, &param));
  for (const cl_long number : {launch.grid, per_item})
    SCOPEVM_RETURN_IF_ERROR(set_argument(api, kernel, index, sizeof number, &number));
  return {};
}

Status OpenClDevice::launch(const DeviceLaunch& launch) {
  const auto& kernel = static_cast<const Kernel&>(*launch.kernel);
  const std::string context = "kernel " + kernel.symbol;
  if (launch.buffers.size() != static_cast<size_t>(kernel.buffers) ||
      launch.params.size() != static_cast<size_t>(kernel.params) || launch.grain < 1 ||
      launch.workers < 1)
    return {StatusCode::kInternal, context + ": launched with what it does not take"};
  if (launch.grid <= 0) return {};
  const int64_t most_parts = std::min(launch.workers, (launch.grid - 1) / launch.grain + 1);
  const int64_t per_item = (launch.grid - 1) / most_parts + 1;
  const size_t parts = static_cast<size_t>((launch.grid - 1) / per_item + 1);
  auto places = find_all(launch.buffers);
  if (!places.is_ok()) return std::move(places).status().with_context(context);
  cl_event event = nullptr;
  cl_int error = CL_SUCCESS;
  {
    std::lock_guard<std::mutex> lock(kernel.arguments);
    Status set = set_arguments(kernel, *places, launch, per_item);
    if (!set.is_ok()) return std::move(set).with_context(context);
    error = session_->api.clEnqueueNDRangeKernel(session_->queue.get(), kernel.kernel.get(), 1,
                                                 nullptr, &parts, nullptr, 0, nullptr, &event);
  }
  if (error != CL_SUCCESS) return answer(error, "clEnqueueNDRangeKernel").with_context(context);
  remember(kernel, event);
  return check(session_->api.clFlush(session_->queue.get()), "clFlush").with_context(context);
}

void OpenClDevice::remember(const Kernel& kernel, cl_event event) {
  std::lock_guard<std::mutex> lock(mutex_);
  pending_.push_back({kernel.symbol, {event, session_->api.clReleaseEvent}});
  if (pending_.size() > kMostPending) pending_.pop_front();
}

Status OpenClDevice::failed_launch() {
  std::lock_guard<std::mutex> lock(mutex_);
  while (!pending_.empty()) {
    const Pending& oldest = pending_.front();
    cl_int state = CL_COMPLETE;
    if (session_->api.clGetEventInfo(oldest.event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                     sizeof state, &state, nullptr) != CL_SUCCESS)
      state = CL_COMPLETE;
    if (state > CL_COMPLETE) return {};
    const std::string kernel = oldest.kernel;
    pending_.pop_front();
    if (state < 0) return check(state, "its launch").with_context("kernel " + kernel);
  }
  return {};
}

Status OpenClDevice::answer(cl_int error, const char* call) {
  Status launched = failed_launch();
  if (launched.is_ok()) return check(error, call);
  return launched;
}

Status OpenClDevice::finish() {
  return answer(session_->api.clFinish(session_->queue.get()), "clFinish");
}

}  // namespace scopevm::runtime::opencl
