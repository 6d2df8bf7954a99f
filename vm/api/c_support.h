// What the functions of the C API use: handles, each of which shares an object of the VM, and
// conversions of arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/c_api/c_arguments.h"
#include "scopevm/module.h"
#include "scopevm/scopevm.h"
#include "scopevm/session.h"
#include "vm/load/loaded_module.h"
#include "vm/run/admission/scheduler_handle.h"
#include "vm/run/call/bound_session.h"

namespace scopevm::vm {
class CallState;
}

struct scopevm_module {
  std::shared_ptr<const scopevm::vm::LoadedModule> loaded;
  // By input and by output: the dims as C strings, which `loaded` owns.
  std::vector<std::vector<const char*>> input_dims;
  std::vector<std::vector<const char*>> output_dims;
};
struct scopevm_session {
  std::shared_ptr<scopevm::vm::BoundSession> bound;
};
struct scopevm_state {
  std::shared_ptr<scopevm::vm::CallState> state;
};

namespace scopevm {

namespace vm {

// A handle, which the caller owns. Throws std::bad_alloc.
scopevm_module* make_handle(std::shared_ptr<const LoadedModule> loaded);

}  // namespace vm

// Limits of memory scopes; `member` and `name` as for read_array(). Errors: those of read_array().
Result<std::vector<ScopeLimit>> to_limits(const scopevm_memory_limit* given, size_t count,
                                          size_t size, std::string_view member,
                                          std::string_view name);

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

// The ranges of dimensions. Errors: kInvalidArgument (NULL).
inline Result<std::map<std::string, DimRange>> to_ranges(const char* const* names,
                                                         const int64_t* least, const int64_t* most,
                                                         size_t count) {
  SCOPEVM_RETURN_IF_ERROR(check_array(most, count, "most"));
  SCOPEVM_RETURN_IF_ERROR(check_array(least, count, "least"));
  SCOPEVM_RETURN_IF_ERROR(check_array(names, count, "names"));
  std::map<std::string, DimRange> dims;
  for (size_t i = 0; i < count; ++i) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view name,
                             to_text(names[i], "the name of a dimension"));
    dims[std::string(name)] = {least[i], most[i]};
  }
  return dims;
}

}  // namespace scopevm
