// The functions of the C API for calls (scopevm/c/call.h): inputs, runs and statistics.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/tensor/dlpack_type.h"
#include "runtime/tensor/shape.h"
#include "scopevm/scopevm.h"
#include "scopevm/session.h"
#include "vm/api/c_support.h"

namespace scopevm {
namespace {

// Adds the bytes that it copies to *copied_bytes.
Result<Tensor> to_tensor(const DLTensor* tensor, int64_t* copied_bytes) {
  if (tensor == nullptr) return Tensor();
  int64_t copied = 0;
  SCOPEVM_ASSIGN_OR_RETURN(Tensor read, runtime::read_dlpack(*tensor, &copied));
  *copied_bytes += copied;
  return read;
}

Result<Tensor> to_tensor(const scopevm_strings& given, int64_t* /*copied_bytes*/) {
  SCOPEVM_RETURN_IF_ERROR(check_array(given.dims, given.rank, "the array of dims"));
  const std::span<const int64_t> dims(given.dims, given.rank);
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, runtime::shape_bytes(DType::kStr, dims));
  std::vector<std::string_view> strings;
  const auto count = static_cast<size_t>(bytes / byte_size(DType::kStr));
  for (size_t i = 0; i < count; ++i) {
    SCOPEVM_RETURN_IF_ERROR(check_not_null({{given.strings, "the array of strings"}}));
    const char* string = given.strings[i];
    SCOPEVM_RETURN_IF_ERROR(check_not_null({{string, "string " + std::to_string(i)}}));
    strings.push_back(given.sizes == nullptr ? std::string_view(string)
                                             : std::string_view(string, given.sizes[i]));
  }
  return Tensor::from_strings(strings, dims);
}

// Converts the elements of a sequence.
template <typename Given>
Result<std::vector<Tensor>> to_tensors(const Given* given, size_t count, int64_t* copied_bytes) {
  SCOPEVM_RETURN_IF_ERROR(check_array(given, count, "the array of elements"));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < count; ++i) {
    if constexpr (std::is_pointer_v<Given>)
      SCOPEVM_RETURN_IF_ERROR(check_not_null({{given[i], "an element"}}));
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, to_tensor(given[i], copied_bytes));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// Sets an input to a tensor of which it takes ownership on success only.
Status give(Call& to, size_t index, DLManagedTensorVersioned* managed, int64_t* copied_bytes) {
  SCOPEVM_RETURN_IF_ERROR(check_not_null({{managed, "tensor"}}));
  SCOPEVM_RETURN_IF_ERROR(runtime::check_dlpack_version(managed->version));
  // Sets the input to a tensor without ownership first, which checks it.
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, to_tensor(&managed->dl_tensor, copied_bytes));
  SCOPEVM_RETURN_IF_ERROR(to.set_input(index, std::move(tensor)));
  if (*copied_bytes > 0) {
    if (managed->deleter != nullptr) managed->deleter(managed);
    return {};
  }
  Result<Tensor> owner = Tensor::from_dlpack(managed);
  if (owner.ok()) return to.set_input(index, *std::move(owner));
  SCOPEVM_RETURN_IF_ERROR(to.set_input(index, Tensor()));
  return std::move(owner).status();
}

enum class Direction { kInput, kOutput };

// The index of the input or output with this name. Errors: kNotFound.
Result<size_t> find(const scopevm_call& call, Direction direction, const char* name) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, to_text(name, "name"));
  return direction == Direction::kInput ? call.call.find_input(text) : call.call.find_output(text);
}

Result<size_t> find(const scopevm_call&, Direction, size_t index) { return index; }

// Calls `set` with the index of the input that `key`, a name or an index, denotes, and a counter
// for the bytes that it copies.
template <typename Key, typename Set>
scopevm_status* set_input(scopevm_call* call, Key key, const Set& set) {
  return checked({{call, "call"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find(*call, Direction::kInput, key));
    int64_t copied_bytes = 0;
    SCOPEVM_RETURN_IF_ERROR(set(call->call, index, &copied_bytes));
    call->copied_bytes[index] = copied_bytes;
    return {};
  });
}

template <typename Key, typename Given>
scopevm_status* set_tensor(scopevm_call* call, Key key, const Given& tensor) {
  return set_input(call, key, [&](Call& to, size_t index, int64_t* copied_bytes) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(Tensor converted, to_tensor(tensor, copied_bytes));
    return to.set_input(index, std::move(converted));
  });
}

template <typename Key, typename Given>
scopevm_status* set_sequence(scopevm_call* call, Key key, const Given* elements, size_t count) {
  return set_input(call, key, [&](Call& to, size_t index, int64_t* copied_bytes) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(std::vector<Tensor> tensors,
                             to_tensors(elements, count, copied_bytes));
    return to.set_sequence(index, std::move(tensors));
  });
}

template <typename Key>
scopevm_status* set_strings(scopevm_call* call, Key key, const scopevm_strings* strings) {
  return set_input(call, key, [&](Call& to, size_t index, int64_t* copied_bytes) -> Status {
    SCOPEVM_RETURN_IF_ERROR(check_not_null({{strings, "strings"}}));
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, to_tensor(*strings, copied_bytes));
    return to.set_input(index, std::move(tensor));
  });
}

template <typename Key>
scopevm_status* set_no_value(scopevm_call* call, Key key) {
  return set_input(call, key,
                   [](Call& to, size_t index, int64_t*) { return to.set_no_value(index); });
}

template <typename Key>
scopevm_status* set_output(scopevm_call* call, Key key, const DLTensor* tensor) {
  return checked({{call, "call"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find(*call, Direction::kOutput, key));
    if (tensor == nullptr) return call->call.set_output(index, Tensor());
    SCOPEVM_ASSIGN_OR_RETURN(Tensor borrowed, runtime::borrow_dlpack(*tensor));
    return call->call.set_output(index, std::move(borrowed));
  });
}

// The time at which a run ends that starts now; no value for `timeout_ns` of 0 or less, or beyond
// the range of the clock.
std::optional<std::chrono::steady_clock::time_point> deadline_of(int64_t timeout_ns) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point now = Clock::now();
  const std::chrono::nanoseconds timeout(timeout_ns);
  if (timeout_ns <= 0 || timeout >= Clock::time_point::max() - now) return std::nullopt;
  return now + timeout;
}

Status run(scopevm_call& call, const scopevm_run_options* given) {
  SCOPEVM_ASSIGN_OR_RETURN(
      const scopevm_run_options c,
      read_options(given, SCOPEVM_SIZE_UP_TO(scopevm_run_options, trace_context),
                   "scopevm_run_options"));
  CTrace trace(c.trace, c.trace_context);
  CallOptions options;
  options.deadline = deadline_of(c.timeout_ns);
  if (c.trace != nullptr) options.trace = &trace;
  options.request_id = c.request_id;
  return call.call.run(options);
}

Status submit(scopevm_call& call, const scopevm_submit_options* given,
              void (*done)(void* context, const scopevm_status* result), void* context) {
  SCOPEVM_ASSIGN_OR_RETURN(
      const scopevm_submit_options c,
      read_options(given, SCOPEVM_SIZE_UP_TO(scopevm_submit_options, trace_context),
                   "scopevm_submit_options"));
  SCOPEVM_RETURN_IF_ERROR(check_idle(call.call));
  SubmitOptions options;
  options.call.deadline = deadline_of(c.timeout_ns);
  options.priority = c.priority;
  SCOPEVM_ASSIGN_OR_RETURN(options.data_budgets,
                           to_limits(c.data_budgets, c.data_budget_count, c.data_budget_size,
                                     "data_budget_size", "budgets"));
  call.trace.reset();
  if (c.trace != nullptr) options.call.trace = &call.trace.emplace(c.trace, c.trace_context);
  options.call.request_id = c.request_id;
  if (done == nullptr) return call.call.submit(options);
  return call.call.submit(options, [done, context](const Status& status) {
    const scopevm_status result{status};
    done(context, status.ok() ? nullptr : &result);
  });
}

}  // namespace

void CTrace::record(const TraceEvent& event) {
  // The parts of an event are not all NUL-terminated.
  const std::string name(event.name), kernel(event.kernel), device(event.device),
      from_device(event.from_device), from_scope(event.from_scope), to_device(event.to_device),
      to_scope(event.to_scope), scope(event.scope);
  // The name of a dimension is the whole of a std::string.
  std::vector<scopevm_trace_dim> dims;
  for (const TraceDim& dim : event.dims) dims.push_back({scopevm::to_c(dim.name), dim.value});
  const scopevm_trace_event c = {sizeof(scopevm_trace_event),
                                 static_cast<int>(event.kind),
                                 static_cast<int>(event.lane),
                                 event.worker,
                                 name.c_str(),
                                 kernel.c_str(),
                                 device.c_str(),
                                 from_device.c_str(),
                                 from_scope.c_str(),
                                 to_device.c_str(),
                                 to_scope.c_str(),
                                 event.bytes,
                                 event.start_ns,
                                 event.duration_ns,
                                 scope.c_str(),
                                 event.request_id,
                                 static_cast<int>(event.status),
                                 dims.data(),
                                 dims.size(),
                                 sizeof(scopevm_trace_dim)};
  function_(context_, &c);
}

}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;
using scopevm::Tensor;

scopevm_status* scopevm_call_create(const scopevm_session* session, scopevm_call** out) {
  return checked({{session, "session"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(scopevm::Call call, session->session.make_call());
    std::vector<int64_t> copied_bytes(session->session.signature().inputs.size());
    *out = new scopevm_call{std::move(call), std::move(copied_bytes), std::nullopt};
    return {};
  });
}

void scopevm_call_free(scopevm_call* call) { delete call; }

scopevm_status* scopevm_call_set_input(scopevm_call* call, const char* name,
                                       const DLTensor* tensor) {
  return scopevm::set_tensor(call, name, tensor);
}

scopevm_status* scopevm_call_set_input_at(scopevm_call* call, size_t index,
                                          const DLTensor* tensor) {
  return scopevm::set_tensor(call, index, tensor);
}

scopevm_status* scopevm_call_give_input(scopevm_call* call, size_t index,
                                        DLManagedTensorVersioned* tensor) {
  return scopevm::set_input(call, index, [&](scopevm::Call& to, size_t at, int64_t* copied_bytes) {
    return scopevm::give(to, at, tensor, copied_bytes);
  });
}

scopevm_status* scopevm_call_set_sequence(scopevm_call* call, const char* name,
                                          const DLTensor* const* tensors, size_t count) {
  return scopevm::set_sequence(call, name, tensors, count);
}

scopevm_status* scopevm_call_set_sequence_at(scopevm_call* call, size_t index,
                                             const DLTensor* const* tensors, size_t count) {
  return scopevm::set_sequence(call, index, tensors, count);
}

scopevm_status* scopevm_call_set_input_strings(scopevm_call* call, const char* name,
                                               const scopevm_strings* strings) {
  return scopevm::set_strings(call, name, strings);
}

scopevm_status* scopevm_call_set_input_strings_at(scopevm_call* call, size_t index,
                                                  const scopevm_strings* strings) {
  return scopevm::set_strings(call, index, strings);
}

scopevm_status* scopevm_call_set_sequence_strings(scopevm_call* call, const char* name,
                                                  const scopevm_strings* elements, size_t count) {
  return scopevm::set_sequence(call, name, elements, count);
}

scopevm_status* scopevm_call_set_sequence_strings_at(scopevm_call* call, size_t index,
                                                     const scopevm_strings* elements,
                                                     size_t count) {
  return scopevm::set_sequence(call, index, elements, count);
}

scopevm_status* scopevm_call_set_no_value(scopevm_call* call, const char* name) {
  return scopevm::set_no_value(call, name);
}

scopevm_status* scopevm_call_set_no_value_at(scopevm_call* call, size_t index) {
  return scopevm::set_no_value(call, index);
}

scopevm_status* scopevm_call_set_output(scopevm_call* call, const char* name,
                                        const DLTensor* tensor) {
  return scopevm::set_output(call, name, tensor);
}

scopevm_status* scopevm_call_set_output_at(scopevm_call* call, size_t index,
                                           const DLTensor* tensor) {
  return scopevm::set_output(call, index, tensor);
}

scopevm_status* scopevm_call_set_output_buffer(scopevm_call* call, size_t index, void* data,
                                               int64_t capacity) {
  return checked({{call, "call"}},
                 [&] { return call->call.set_output_buffer(index, data, capacity); });
}

scopevm_status* scopevm_call_run(scopevm_call* call, const scopevm_run_options* options) {
  return checked({{call, "call"}}, [&] { return scopevm::run(*call, options); });
}

scopevm_status* scopevm_call_submit(scopevm_call* call, const scopevm_submit_options* options,
                                    void (*done)(void* context, const scopevm_status* result),
                                    void* context) {
  return checked({{call, "call"}}, [&] { return scopevm::submit(*call, options, done, context); });
}

scopevm_status* scopevm_call_wait(const scopevm_call* call, int64_t timeout_ns) {
  return checked({{call, "call"}}, [&] {
    return timeout_ns < 0 ? call->call.wait()
                          : call->call.wait_for(std::chrono::nanoseconds(timeout_ns));
  });
}

int scopevm_call_is_in_flight(const scopevm_call* call) {
  return call != nullptr && call->call.is_in_flight() ? 1 : 0;
}

void scopevm_call_cancel(scopevm_call* call) {
  if (call != nullptr) call->call.cancel();
}

scopevm_status* scopevm_call_read_stats(const scopevm_call* call, scopevm_call_stats* out) {
  return checked({{call, "call"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_idle(call->call));
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_size(out->struct_size,
                                                SCOPEVM_SIZE_UP_TO(scopevm_call_stats, copy_count),
                                                "struct_size of *out"));
    const scopevm::CallStats& stats = call->call.stats();
    // The name of a function is the whole of a std::string.
    const char* function = stats.function.empty() ? "" : stats.function.data();
    const bool has_run = !stats.function.empty();
    scopevm::fill_struct(
        {0, stats.latency_ns, function, stats.emulated_seconds,
         has_run ? std::reduce(call->copied_bytes.begin(), call->copied_bytes.end(), int64_t{0})
                 : 0,
         stats.memory.size(), stats.copies.size()},
        out);
    return {};
  });
}

scopevm_status* scopevm_call_memory_use(const scopevm_call* call, size_t index,
                                        scopevm_memory_use* out) {
  return checked({{call, "call"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_idle(call->call));
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_size(out->struct_size,
                                                SCOPEVM_SIZE_UP_TO(scopevm_memory_use, allocations),
                                                "struct_size of *out"));
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::ScopeUse* use,
                             scopevm::element_at(call->call.stats().memory, index, "memory scope"));
    scopevm::fill_struct(
        {0, scopevm::to_c(use->device), scopevm::to_c(use->scope), use->bound_bytes,
         use->lower_bound_bytes, use->peak_bytes, use->allocations},
        out);
    return {};
  });
}

scopevm_status* scopevm_call_copy_use(const scopevm_call* call, size_t index,
                                      scopevm_copy_use* out) {
  return checked({{call, "call"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_idle(call->call));
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_size(
        out->struct_size, SCOPEVM_SIZE_UP_TO(scopevm_copy_use, bytes), "struct_size of *out"));
    SCOPEVM_ASSIGN_OR_RETURN(
        const scopevm::CopyUse* use,
        scopevm::element_at(call->call.stats().copies, index, "pair of memory scopes"));
    scopevm::fill_struct(
        {0, scopevm::to_c(use->from_device), scopevm::to_c(use->from_scope),
         scopevm::to_c(use->to_device), scopevm::to_c(use->to_scope), use->copies, use->bytes},
        out);
    return {};
  });
}
