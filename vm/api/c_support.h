// What all functions of the C API use: handles, each of which owns a C++ object.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/c_api/c_arguments.h"
#include "scopevm/allocator.h"
#include "scopevm/allocators.h"
#include "scopevm/module.h"
#include "scopevm/scheduler.h"
#include "scopevm/scopevm.h"
#include "scopevm/session.h"
#include "scopevm/status.h"

struct scopevm_module {
  scopevm::Module module;
  // By input and by output: the dims as C strings, which `module` owns.
  std::vector<std::vector<const char*>> input_dims;
  std::vector<std::vector<const char*>> output_dims;
};
struct scopevm_session {
  scopevm::Session session;
};
struct scopevm_scheduler {
  scopevm::Scheduler scheduler;
};

namespace scopevm {

// Passes events to a function of the caller.
class CTrace final : public TraceSink {
 public:
  using Function = void (*)(void* context, const scopevm_trace_event* event);
  CTrace(Function function, void* context) : function_(function), context_(context) {}
  void record(const TraceEvent& event) override;

 private:
  Function function_;
  void* context_;
};

}  // namespace scopevm

struct scopevm_call {
  scopevm::Call call;
  std::vector<int64_t> copied_bytes;     // by input: of elements that had strides
  std::optional<scopevm::CTrace> trace;  // of a submitted run
};
struct scopevm_allocator {
  std::shared_ptr<scopevm::Allocator> allocator;
};

namespace scopevm {

// The counters, with struct_size 0.
scopevm_allocator_stats to_c(const AllocatorStats& stats);

// Limits of memory scopes; `member` and `name` as for read_array(). Errors: those of read_array().
Result<std::vector<ScopeLimit>> to_limits(const scopevm_memory_limit* given, size_t count,
                                          size_t size, std::string_view member,
                                          std::string_view name);

// The options of an allocator; NULL: the defaults. Errors: kInvalidArgument.
Result<AllocatorOptions> allocator_options(const scopevm_allocator_options* given);

// Errors: kInvalidArgument (the call is in flight, and its results and statistics change).
inline Status check_idle(const Call& call) {
  if (!call.is_in_flight()) return {};
  return {StatusCode::kInvalidArgument, "the call is in flight: wait for its end"};
}

// The values of dimensions. Errors: kInvalidArgument (NULL).
inline Result<std::map<std::string, int64_t>> to_dims(const char* const* names,
                                                      const int64_t* values, size_t count) {
  SCOPEVM_RETURN_IF_ERROR(check_array(names, count, "names"));
  SCOPEVM_RETURN_IF_ERROR(check_array(values, count, "values"));
  std::map<std::string, int64_t> dims;
  for (size_t i = 0; i < count; ++i) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view name,
                             to_text(names[i], "the name of a dimension"));
    dims[std::string(name)] = values[i];
  }
  return dims;
}

}  // namespace scopevm
