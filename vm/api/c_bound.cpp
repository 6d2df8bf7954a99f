// The functions of the C API for the memory of calls (scopevm/c/module.h).
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/nearest_name.h"
#include "scopevm/scopevm.h"
#include "vm/api/c_support.h"
#include "vm/run/bound/bound.h"

struct scopevm_bound {
  scopevm::MemoryBound bound;
};

namespace scopevm {
namespace {

// Computes a bound with `bound_of` for the dims that the arguments denote, and adds up its memory
// scopes called `scope`.
template <typename BoundOf>
Status scope_bound(const vm::LoadedModule& module, const char* const* names, const int64_t* values,
                   size_t count, const char* scope, int64_t* out_bytes, const BoundOf& bound_of) {
  SCOPEVM_ASSIGN_OR_RETURN(const auto dims, to_dims(names, values, count));
  SCOPEVM_ASSIGN_OR_RETURN(const std::string_view wanted, to_text(scope, "scope"));
  std::vector<std::string> known;
  for (const MemoryScope& each : module.memory_scopes()) known.push_back(each.scope);
  SCOPEVM_RETURN_IF_ERROR(runtime::find_name("memory scope", wanted, known).status());
  SCOPEVM_ASSIGN_OR_RETURN(const MemoryBound bound, bound_of(dims));
  *out_bytes = 0;
  for (const ScopeBound& line : bound.scopes)
    if (line.scope == wanted) *out_bytes += line.bytes;
  return {};
}

}  // namespace
}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;

scopevm_status* scopevm_module_memory_bound(const scopevm_module* module, const char* const* names,
                                            const int64_t* values, size_t count, int threads,
                                            const char* scope, int64_t* out_bytes) {
  return checked({{module, "module"}, {out_bytes, "out_bytes"}}, [&] {
    return scopevm::scope_bound(*module->loaded, names, values, count, scope, out_bytes,
                                [&](const auto& dims) {
                                  return scopevm::vm::memory_bound(*module->loaded, dims, threads);
                                });
  });
}

scopevm_status* scopevm_module_largest_bound(const scopevm_module* module, const char* const* names,
                                             const int64_t* values, size_t count, int threads,
                                             const char* scope, int64_t* out_bytes) {
  return checked({{module, "module"}, {out_bytes, "out_bytes"}}, [&] {
    return scopevm::scope_bound(
        *module->loaded, names, values, count, scope, out_bytes, [&](const auto& dims) {
          std::map<std::string, scopevm::DimRange> ranges;
          for (const auto& [name, value] : dims) ranges[name] = {value, value};
          return scopevm::vm::largest_bound(*module->loaded, ranges, threads);
        });
  });
}

scopevm_status* scopevm_bound_create(const scopevm_module* module, const char* const* names,
                                     const int64_t* values, size_t count, int threads,
                                     scopevm_bound** out) {
  return checked({{module, "module"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const auto dims, scopevm::to_dims(names, values, count));
    SCOPEVM_ASSIGN_OR_RETURN(scopevm::MemoryBound bound,
                             scopevm::vm::memory_bound(*module->loaded, dims, threads));
    *out = new scopevm_bound{std::move(bound)};
    return {};
  });
}

scopevm_status* scopevm_bound_create_largest(const scopevm_module* module, const char* const* names,
                                             const int64_t* least, const int64_t* most,
                                             size_t count, int threads, scopevm_bound** out) {
  return checked({{module, "module"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const auto dims, scopevm::to_ranges(names, least, most, count));
    SCOPEVM_ASSIGN_OR_RETURN(scopevm::MemoryBound bound,
                             scopevm::vm::largest_bound(*module->loaded, dims, threads));
    *out = new scopevm_bound{std::move(bound)};
    return {};
  });
}

void scopevm_bound_free(scopevm_bound* bound) { delete bound; }

const char* scopevm_bound_function(const scopevm_bound* bound) {
  return bound == nullptr ? nullptr : bound->bound.function.c_str();
}

size_t scopevm_bound_line_count(const scopevm_bound* bound) {
  return bound == nullptr ? 0 : bound->bound.lines.size();
}

size_t scopevm_bound_scope_count(const scopevm_bound* bound) {
  return bound == nullptr ? 0 : bound->bound.scopes.size();
}

size_t scopevm_bound_definition_count(const scopevm_bound* bound) {
  return bound == nullptr ? 0 : bound->bound.definitions.size();
}

scopevm_status* scopevm_bound_line(const scopevm_bound* bound, size_t index,
                                   scopevm_bound_line_info* out) {
  return checked({{bound, "bound"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(
        scopevm::check_size(out->struct_size, SCOPEVM_SIZE_UP_TO(scopevm_bound_line_info, formula),
                            "struct_size of *out"));
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::MemoryLine* line,
                             scopevm::element_at(bound->bound.lines, index, "entry"));
    scopevm::fill_struct({0, line->device.c_str(), line->scope.c_str(), line->what.c_str(),
                          line->is_result ? 1 : 0, line->depends_on_data ? 1 : 0, line->bytes,
                          line->lower_bound_bytes, line->formula.c_str()},
                         out);
    return {};
  });
}

scopevm_status* scopevm_bound_definition(const scopevm_bound* bound, size_t index,
                                         const char** out_name, const char** out_formula) {
  return checked({{bound, "bound"}, {out_name, "out_name"}, {out_formula, "out_formula"}},
                 [&]() -> Status {
                   SCOPEVM_ASSIGN_OR_RETURN(
                       const scopevm::FormulaDefinition* definition,
                       scopevm::element_at(bound->bound.definitions, index, "definition"));
                   *out_name = definition->name.c_str();
                   *out_formula = definition->formula.c_str();
                   return {};
                 });
}

scopevm_status* scopevm_bound_scope(const scopevm_bound* bound, size_t index,
                                    scopevm_bound_scope_info* out) {
  return checked({{bound, "bound"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_size(
        out->struct_size, SCOPEVM_SIZE_UP_TO(scopevm_bound_scope_info, lower_bound_bytes),
        "struct_size of *out"));
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::ScopeBound* scope,
                             scopevm::element_at(bound->bound.scopes, index, "memory scope"));
    scopevm::fill_struct(
        {0, scope->device.c_str(), scope->scope.c_str(), scope->bytes, scope->lower_bound_bytes},
        out);
    return {};
  });
}
