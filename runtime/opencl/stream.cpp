// Enqueues copies and launches and tracks their events; see stream.h.
#include "runtime/opencl/stream.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "runtime/count_text.h"

namespace scopevm::runtime::opencl {
namespace {

// Maximum number of pending commands per stream; enough to keep a device busy.
constexpr size_t kMostPending = 64;

// Mapping a buffer waits for earlier work, so it pays off only for large copies
// (bench/runtime/device_bench.cpp).
constexpr int64_t kMapFromBytes = 4 << 20;

Status set_argument(const Api& api, const Kernel& kernel, cl_uint& index, size_t size,
                    const void* value) {
  return check(api.clSetKernelArg(kernel.kernel.get(), index++, size, value), "clSetKernelArg");
}

}  // namespace

OpenClStream::~OpenClStream() { (void)settle(); }

// --- Copies. ------------------------------------------------------------------------------------

// Maps a range. The map is blocking and waits for all earlier commands of the queue.
Result<void*> OpenClStream::map(const BufferOffset& place, cl_map_flags how, int64_t bytes) {
  cl_int error = CL_SUCCESS;
  void* mapped = context_.api.clEnqueueMapBuffer(session_->queue.get(), place.buffer, CL_TRUE, how,
                                                 place.offset, static_cast<size_t>(bytes), 0,
                                                 nullptr, nullptr, &error);
  Status status = first_failure(error, "clEnqueueMapBuffer");
  if (status.ok()) return mapped;
  // The map succeeded, but an earlier command failed.
  if (error == CL_SUCCESS) (void)unmap(place, mapped);
  return status;
}

Status OpenClStream::unmap(const BufferOffset& place, void* mapped) {
  return context_.health.note(context_.api.clEnqueueUnmapMemObject(
                                  session_->queue.get(), place.buffer, mapped, 0, nullptr, nullptr),
                              "clEnqueueUnmapMemObject");
}

bool OpenClStream::uses_mapping(int64_t bytes) const {
  return context_.shares_host_memory && bytes >= kMapFromBytes;
}

// The host executes this copy: the device has no times for it.
void OpenClStream::copy_mapped(void* to, const void* from, int64_t bytes) {
  const Observed observed = std::exchange(next_observed_, {});
  const Clock::time_point start = Clock::now();
  std::memcpy(to, from, static_cast<size_t>(bytes));
  if (observed.observer != nullptr && session_->has_times)
    observed.observer->executed(observed.command, start, Clock::now());
}

Status OpenClStream::copy_in(void* to, const void* from_host, int64_t bytes) {
  if (bytes == 0) return {};
  SCOPEVM_RETURN_IF_ERROR(context_.health.status());
  SCOPEVM_ASSIGN_OR_RETURN(const BufferOffset place, blocks_.find(to, bytes));
  const auto size = static_cast<size_t>(bytes);
  if (uses_mapping(bytes)) {
    SCOPEVM_ASSIGN_OR_RETURN(void* const mapped, map(place, CL_MAP_WRITE_INVALIDATE_REGION, bytes));
    copy_mapped(mapped, from_host, bytes);
    return unmap(place, mapped);
  }
  cl_event event = nullptr;
  const cl_int error =
      context_.api.clEnqueueWriteBuffer(session_->queue.get(), place.buffer, CL_FALSE, place.offset,
                                        size, from_host, 0, nullptr, &event);
  return record_copy(error, "clEnqueueWriteBuffer", event);
}

Status OpenClStream::copy_out(void* to_host, const void* from, int64_t bytes) {
  if (bytes == 0) return {};
  SCOPEVM_RETURN_IF_ERROR(context_.health.status());
  SCOPEVM_ASSIGN_OR_RETURN(const BufferOffset place, blocks_.find(from, bytes));
  const auto size = static_cast<size_t>(bytes);
  if (uses_mapping(bytes)) {
    SCOPEVM_ASSIGN_OR_RETURN(void* const mapped, map(place, CL_MAP_READ, bytes));
    copy_mapped(to_host, mapped, bytes);
    return unmap(place, mapped);
  }
  cl_event event = nullptr;
  const cl_int error =
      context_.api.clEnqueueReadBuffer(session_->queue.get(), place.buffer, CL_FALSE, place.offset,
                                       size, to_host, 0, nullptr, &event);
  return record_copy(error, "clEnqueueReadBuffer", event);
}

Status OpenClStream::record_copy(cl_int error, const char* call, cl_event event) {
  if (error != CL_SUCCESS) return first_failure(error, call);
  add_pending(event, nullptr, /*uses_host_memory=*/true);
  // A driver may hold back commands until a flush, but the copy should overlap with the host's
  // work.
  return context_.health.note(context_.api.clFlush(session_->queue.get()), "clFlush");
}

Status OpenClStream::copy_within(void* to, const void* from, int64_t bytes) {
  if (bytes == 0 || to == from) return {};
  SCOPEVM_RETURN_IF_ERROR(context_.health.status());
  SCOPEVM_ASSIGN_OR_RETURN(const BufferOffset target, blocks_.find(to, bytes));
  SCOPEVM_ASSIGN_OR_RETURN(const BufferOffset source, blocks_.find(from, bytes));
  cl_event event = nullptr;
  const cl_int error = context_.api.clEnqueueCopyBuffer(
      session_->queue.get(), source.buffer, target.buffer, source.offset, target.offset,
      static_cast<size_t>(bytes), 0, nullptr, &event);
  if (error != CL_SUCCESS) return first_failure(error, "clEnqueueCopyBuffer");
  // Not flushed, because a later flush or clFinish() submits this command too.
  add_pending(event, nullptr, /*uses_host_memory=*/false);
  return {};
}

// --- Launches. ----------------------------------------------------------------------------------

Result<bool> OpenClStream::find_all(std::span<void* const> buffers) {
  places_.clear();
  bool uses_shared_memory = false;
  for (size_t i = 0; i < buffers.size(); ++i) {
    Result<BufferOffset> place = blocks_.find(buffers[i], 0);
    if (const auto shared = place.ok() ? std::nullopt : shared_blocks_.find(buffers[i])) {
      place = *shared;
      uses_shared_memory = true;
    }
    if (!place.ok()) return std::move(place).status().with_context("buffer " + std::to_string(i));
    places_.push_back(*place);
  }
  return uses_shared_memory;
}

Status OpenClStream::set_arguments(const Kernel& kernel, const DeviceLaunch& launch,
                                   int64_t per_item) const {
  const Api& api = context_.api;
  cl_uint index = 0;
  for (const BufferOffset& place : places_) {
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

Status OpenClStream::enqueue(const Kernel& kernel, const DeviceLaunch& launch) {
  // Each part is one OpenCL work item, which processes per_item items of the grid. There are at
  // most `workers` parts and at most grid / grain parts, rounded up. Because per_item is rounded up
  // too, the number of parts is recomputed from it: otherwise the last parts could be empty.
  const int64_t most_parts = std::min(launch.workers, (launch.grid - 1) / launch.grain + 1);
  const int64_t per_item = (launch.grid - 1) / most_parts + 1;
  const auto parts = static_cast<size_t>((launch.grid - 1) / per_item + 1);
  SCOPEVM_ASSIGN_OR_RETURN(const bool uses_shared_memory, find_all(launch.buffers));
  cl_event event = nullptr;
  cl_int error = CL_SUCCESS;
  {
    // clSetKernelArg is the only OpenCL function that is not thread-safe on one object. The enqueue
    // captures the values, so the lock ends after it.
    std::lock_guard<std::mutex> lock(kernel.arguments);
    SCOPEVM_RETURN_IF_ERROR(set_arguments(kernel, launch, per_item));
    error = context_.api.clEnqueueNDRangeKernel(session_->queue.get(), kernel.kernel.get(), 1,
                                                nullptr, &parts, nullptr, 0, nullptr, &event);
  }
  if (error != CL_SUCCESS) return first_failure(error, "clEnqueueNDRangeKernel");
  add_pending(event, kernel.symbol, uses_shared_memory);
  return context_.health.note(context_.api.clFlush(session_->queue.get()), "clFlush");
}

Status OpenClStream::launch(const DeviceLaunch& launch) {
  const auto& kernel = static_cast<const Kernel&>(*launch.kernel);
  Status status = context_.health.status();
  if (launch.buffers.size() != static_cast<size_t>(kernel.buffers) ||
      launch.params.size() != static_cast<size_t>(kernel.params) || launch.grain < 1 ||
      launch.workers < 1)
    status = {StatusCode::kInternal,
              "invalid launch: expected " + count_text(kernel.buffers, "buffer") + " and " +
                  count_text(kernel.params, "param") + ", given " +
                  std::to_string(launch.buffers.size()) + " and " +
                  std::to_string(launch.params.size()) + "; grain " + std::to_string(launch.grain) +
                  " and workers " + std::to_string(launch.workers) + " must be at least 1"};
  if (status.ok() && launch.grid > 0) status = enqueue(kernel, launch);
  if (status.ok()) return status;
  return std::move(status).with_context("kernel " + *kernel.symbol);
}

// --- Times. -------------------------------------------------------------------------------------

void OpenClStream::observe_next(CommandObserver& observer, uint64_t command) {
  next_observed_ = {&observer, command, Clock::now()};
}

// Devices have their own clocks. A command is queued after the host submits it, so the difference
// between these two times is a lower bound of the offset between the clocks. The largest of these
// bounds is used, which orders the times of later commands after those of earlier ones.
void OpenClStream::report(const Pending& command) {
  const Observed& observed = command.observed;
  if (observed.observer == nullptr || !session_->has_times) return;
  std::chrono::nanoseconds times[3];
  const cl_profiling_info names[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_START,
                                     CL_PROFILING_COMMAND_END};
  for (size_t i = 0; i < std::size(names); ++i) {
    cl_ulong time = 0;
    if (context_.api.clGetEventProfilingInfo(command.event.get(), names[i], sizeof time, &time,
                                             nullptr) != CL_SUCCESS)
      return;
    times[i] = std::chrono::nanoseconds(time);
  }
  const auto offset = observed.submitted.time_since_epoch() - times[0];
  clock_offset_ = std::max(clock_offset_.value_or(offset), offset);
  observed.observer->executed(observed.command, Clock::time_point(times[1] + *clock_offset_),
                              Clock::time_point(times[2] + *clock_offset_));
}

// --- Completion. --------------------------------------------------------------------------------

void OpenClStream::add_pending(cl_event event, std::shared_ptr<const std::string> kernel,
                               bool uses_host_memory) {
  pending_.push_back({std::move(kernel),
                      uses_host_memory,
                      std::exchange(next_observed_, {}),
                      {event, context_.api.clReleaseEvent}});
  host_uses_ += uses_host_memory ? 1 : 0;
  has_ended_all_ = false;
  if (pending_.size() <= kMostPending) return;
  // Commands complete in order, so the oldest command is the first to complete.
  (void)wait_for(pending_.front());
  Status failed = failed_command();
  if (early_failure_.ok()) early_failure_ = std::move(failed);
}

Status OpenClStream::failed_command() {
  while (!pending_.empty()) {
    const Pending& oldest = pending_.front();
    cl_int state = CL_COMPLETE;
    // On an error the command remains in pending_, so that settle() still waits for it.
    SCOPEVM_RETURN_IF_ERROR(context_.health.note(
        context_.api.clGetEventInfo(oldest.event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                    sizeof state, &state, nullptr),
        "clGetEventInfo"));
    // Queued, submitted or running; the queue is in order, so later commands are not complete
    // either.
    if (state > CL_COMPLETE) return {};
    if (state == CL_COMPLETE) report(oldest);
    const std::shared_ptr<const std::string> kernel = oldest.kernel;
    host_uses_ -= oldest.uses_host_memory ? 1 : 0;
    pending_.pop_front();
    // A negative status is the error code of a command that failed.
    if (state >= 0) continue;
    if (kernel == nullptr) return context_.health.note(state, "copy");
    return context_.health.note(state, "launch").with_context("kernel " + *kernel);
  }
  return {};
}

Status OpenClStream::first_failure(cl_int error, const char* call) {
  Status failed = std::exchange(early_failure_, Status());
  if (failed.ok()) failed = failed_command();
  Status own = context_.health.note(error, call);
  // Makes context_of() create a new context for the next session.
  if (!failed.ok() || !own.ok()) context_.has_failed = true;
  return failed.ok() ? own : failed;
}

// Waits even if the device is lost: an enqueued command may still use host memory.
cl_int OpenClStream::wait_for(const Pending& command) const {
  cl_event event = command.event.get();
  const cl_int error = context_.api.clWaitForEvents(1, &event);
  // EXEC_STATUS_ERROR means that the command has completed with a failure. After any other error
  // its state is unknown: wait for the whole queue.
  if (error != CL_SUCCESS && error != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    (void)context_.api.clFinish(session_->queue.get());
  return error;
}

cl_int OpenClStream::wait_for_last_host_use() const {
  const Pending* const last = last_of(StreamWork::kHostUses, 0);
  return last == nullptr ? CL_SUCCESS : wait_for(*last);
}

const OpenClStream::Pending* OpenClStream::last_of(StreamWork work, int64_t bytes) const {
  if (pending_.empty()) return nullptr;
  // A map waits for all earlier commands of the queue, of which those of other streams are not
  // known here.
  if (work == StreamWork::kAll || (work == StreamWork::kRoom && uses_mapping(bytes)))
    return &pending_.back();
  if (work == StreamWork::kRoom)
    return pending_.size() < kMostPending ? nullptr : &pending_.front();
  const auto last = std::find_if(pending_.rbegin(), pending_.rend(),
                                 [](const Pending& one) { return one.uses_host_memory; });
  return last == pending_.rend() ? nullptr : &*last;
}

// The driver calls the function on one of its threads, also if the command fails.
bool OpenClStream::notify(StreamWork work, int64_t bytes, Wakeup& wakeup) {
  const Pending* const last = last_of(work, bytes);
  if (last == nullptr) return false;
  // Copies within the device are not flushed when they are enqueued.
  if (context_.api.clFlush(session_->queue.get()) != CL_SUCCESS) return false;
  const auto wake = [](cl_event, cl_int, void* woken) { static_cast<Wakeup*>(woken)->wake(); };
  // The stream can be in use by another thread as soon as the function is set.
  has_ended_all_ = work == StreamWork::kAll;
  if (context_.api.clSetEventCallback(last->event.get(), CL_COMPLETE, wake, &wakeup) == CL_SUCCESS)
    return true;
  has_ended_all_ = false;
  return false;
}

Status OpenClStream::settle() {
  if (host_uses_ == 0) return {};
  return first_failure(wait_for_last_host_use(), "clWaitForEvents");
}

Status OpenClStream::finish() {
  Status settled = settle();
  // Waits also after a failure: a pending command may use memory that the caller releases.
  if (!pending_.empty()) {
    // clFinish() waits for commands of other streams, too.
    const cl_int error = has_ended_all_ ? CL_SUCCESS : context_.api.clFinish(session_->queue.get());
    Status finished = first_failure(error, "clFinish");
    if (settled.ok()) settled = std::move(finished);
  }
  has_ended_all_ = false;
  if (settled.ok()) settled = early_failure_;
  early_failure_ = Status();
  pending_.clear();
  host_uses_ = 0;
  next_observed_ = {};
  clock_offset_.reset();
  return settled;
}

}  // namespace scopevm::runtime::opencl
