#include "plugins/triton/instance.h"

#include <dlfcn.h>

#include <algorithm>

#include "plugins/triton/status.h"

namespace scopevm::triton {
namespace {

using std::chrono::steady_clock;

uint64_t time_ns(Time time) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

template <typename Function>
Function optional_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// Reports bytes of host memory to the server, if it has the functions.
void report_host_memory(TRITONBACKEND_ModelInstance* instance, int64_t bytes) {
  static const auto report =
      optional_function<TritonReportMemoryUsage>("TRITONBACKEND_ModelInstanceReportMemoryUsage");
  static const auto create =
      optional_function<TritonAttributesNew>("TRITONSERVER_BufferAttributesNew");
  static const auto destroy =
      optional_function<TritonAttributesDelete>("TRITONSERVER_BufferAttributesDelete");
  static const auto set_bytes =
      optional_function<TritonAttributesSetBytes>("TRITONSERVER_BufferAttributesSetByteSize");
  if (report == nullptr || create == nullptr || destroy == nullptr || set_bytes == nullptr) return;
  // New attributes are of host memory with the number 0.
  TRITONSERVER_BufferAttributes* usage = nullptr;
  if (TRITONSERVER_Error* error = create(&usage))
    return log_if(error, "TRITONSERVER_BufferAttributesNew");
  log_if(set_bytes(usage, static_cast<size_t>(bytes)), "TRITONSERVER_BufferAttributesSetByteSize");
  log_if(report(instance, &usage, 1), "TRITONBACKEND_ModelInstanceReportMemoryUsage");
  log_if(destroy(usage), "TRITONSERVER_BufferAttributesDelete");
}

// The latest deadline; none if a request has none.
std::optional<Time> latest_deadline(std::span<Request* const> group) {
  std::optional<Time> latest = group[0]->deadline();
  for (const Request* request : group) {
    if (!request->deadline()) return std::nullopt;
    latest = std::max(latest, request->deadline());
  }
  return latest;
}

int64_t rows_of(std::span<Request* const> group) {
  int64_t rows = 0;
  for (const Request* request : group) rows += request->batch();
  return rows;
}

}  // namespace

Result<std::unique_ptr<Instance>> Instance::create(TRITONBACKEND_ModelInstance* handle) {
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_CPU;
  SCOPEVM_TRITON_CALL(TRITONBACKEND_ModelInstanceKind, handle, &kind);
  if (kind == TRITONSERVER_INSTANCEGROUPKIND_GPU)
    return Status(StatusCode::kUnsupported,
                  "the instance group has the kind KIND_GPU, expected KIND_CPU or KIND_MODEL");
  TRITONBACKEND_Model* owner = nullptr;
  SCOPEVM_TRITON_CALL(TRITONBACKEND_ModelInstanceModel, handle, &owner);
  void* state = nullptr;
  SCOPEVM_TRITON_CALL(TRITONBACKEND_ModelState, owner, &state);
  const Model& model = *static_cast<const Model*>(state);
  SCOPEVM_ASSIGN_OR_RETURN(Session session,
                           Session::create(model.module(), model.session_options()));
  SCOPEVM_ASSIGN_OR_RETURN(Call call, session.make_call());
  std::unique_ptr<Instance> instance(
      new Instance(handle, model, std::move(session), std::move(call)));
  instance->report_memory();
  return instance;
}

Status Instance::execute(std::span<TRITONBACKEND_Request* const> handles) {
  const Time start = steady_clock::now();
  std::vector<Request> requests;
  std::vector<Request*> waiting;
  std::vector<Request*> group;
  requests.reserve(handles.size());
  waiting.reserve(handles.size());
  group.reserve(handles.size());
  // From here on, nothing throws, so that every request is answered and released.
  for (TRITONBACKEND_Request* handle : handles) requests.emplace_back(handle).read(model_, start);
  for (Request& request : requests)
    if (request.status().ok()) waiting.push_back(&request);
  while (!waiting.empty()) {
    group.clear();
    take_group(waiting, group);
    run_group(group);
    for (Request* request : group) request->finish(handle_);
  }
  for (Request& request : requests) request.finish(handle_);
  uint64_t rows = 0;
  Times times = {start, steady_clock::now(), start};
  for (Request& request : requests)
    if (request.status().ok()) {
      rows += static_cast<uint64_t>(request.batch());
      times.compute_start = std::min(times.compute_start, request.times().compute_start);
      times.compute_end = std::max(times.compute_end, request.times().compute_end);
    }
  if (rows > 0)
    log_if(TRITONBACKEND_ModelInstanceReportBatchStatistics(
               handle_, rows, time_ns(times.start), time_ns(times.compute_start),
               time_ns(times.compute_end), time_ns(steady_clock::now())),
           "TRITONBACKEND_ModelInstanceReportBatchStatistics");
  report_memory();
  return {};
}

void Instance::take_group(std::vector<Request*>& waiting, std::vector<Request*>& group) const {
  group.push_back(waiting.front());
  waiting.erase(waiting.begin());
  if (!model_.joins_requests()) return;
  // No dims: the bound of a joined call is not known, as in Model::fits().
  std::optional<std::vector<int64_t>> dims;
  const Status known = contained([&]() -> Status {
    dims = model_.dims_of(group[0]->inputs());
    return {};
  });
  if (!known.ok() || !dims) return;
  int64_t rows = group[0]->batch();
  const auto joins = [&](const Request* request) {
    const int64_t sum = rows + request->batch();
    if (!group[0]->can_join(*request) || sum > model_.config().max_batch_size) return false;
    model_.set_batch(*dims, sum);
    return model_.fits(*dims);
  };
  std::erase_if(waiting, [&](Request* request) {
    if (!joins(request)) return false;
    rows += request->batch();
    group.push_back(request);
    return true;
  });
}

void Instance::run_group(std::vector<Request*>& group) {
  for (Request* request : group) request->check_end();
  std::erase_if(group, [](const Request* request) { return !request->status().ok(); });
  if (group.size() > 1 && contained([&] { return run(group); }).ok()) return;
  // A joined call that failed is repeated one by one.
  for (Request* const& request : group) {
    request->check_end();
    if (!request->status().ok()) continue;
    request->fail(contained([&] { return run({&request, 1}); }));
  }
}

Status Instance::set_inputs(std::span<Request* const> group) {
  const Signature& signature = model_.signature();
  for (size_t i = 0; i < signature.outputs.size(); ++i)
    if (signature.outputs[i].dtype != DType::kStr)
      SCOPEVM_RETURN_IF_ERROR(call_.set_output(i, Tensor()));
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    Tensor tensor;  // empty: the default of the input
    if (group[0]->inputs()[i].handle != nullptr) {
      SCOPEVM_ASSIGN_OR_RETURN(tensor, input_of(group, i, signature.inputs[i]));
    }
    SCOPEVM_RETURN_IF_ERROR(call_.set_input(i, tensor));
  }
  return {};
}

Status Instance::run(std::span<Request* const> group) {
  const bool is_joined = group.size() > 1;
  SCOPEVM_RETURN_IF_ERROR(set_inputs(group));
  if (!is_joined)
    if (const auto dims = model_.dims_of(group[0]->inputs()))
      SCOPEVM_RETURN_IF_ERROR(group[0]->set_outputs(model_, *dims, call_));
  CallOptions options;
  options.deadline = latest_deadline(group);
  options.cancel = cancellation_.flag();
  const Time compute_start = steady_clock::now();
  cancellation_.start(group);
  Status status = call_.run(options);
  cancellation_.stop();
  const Time compute_end = steady_clock::now();
  for (Request* request : group) {
    request->times().compute_start = compute_start;
    request->times().compute_end = compute_end;
  }
  SCOPEVM_RETURN_IF_ERROR(std::move(status));
  const int64_t rows = is_joined ? rows_of(group) : 0;
  int64_t row = 0;
  for (Request* request : group) {
    if (is_joined) request->check_end();
    if (request->status().ok())
      request->fail(contained([&] { return request->write_results(model_, call_, row, rows); }));
    row += request->batch();
  }
  call_.clear_outputs();
  return {};
}

void Instance::report_memory() {
  const Result<std::vector<ScopeStats>> stats = session_.memory_stats();
  if (!stats.ok()) return;  // out of memory; the report is repeated after the next execution
  int64_t bytes = 0;
  for (const ScopeStats& pool : *stats)
    bytes += std::max(pool.memory.reserved_bytes, pool.memory.live_bytes);
  if (bytes == reported_bytes_) return;
  reported_bytes_ = bytes;
  report_host_memory(handle_, bytes);
}

}  // namespace scopevm::triton
