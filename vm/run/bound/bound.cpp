// Evaluates the shape function of main or a variant and sums the bytes of its storages, or calls
// its bound function; see bound.h.
#include "vm/run/bound/bound.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/count_text.h"
#include "runtime/name_text.h"
#include "scopevm/kernel_abi.h"
#include "vm/format/schema/formula.h"
#include "vm/isa/opcodes.h"
#include "vm/run/bound/request_check.h"

namespace scopevm::vm {
namespace {

// "; give n=NUMBER": the dimensions of the formula that have no value. Empty if all have one.
std::string missing_text(const LoadedModule& module, const std::string& formula,
                         const std::map<std::string, int64_t>& dims) {
  std::string text;
  for (const DimensionSignature& dimension : module.signature().dimensions) {
    if (dims.contains(dimension.name)) continue;
    // A formula without the dimension has an equal value, or none, for all of its sizes.
    std::map<std::string, int64_t> all;
    for (const DimensionSignature& other : module.signature().dimensions)
      if (other.name != dimension.name) all[other.name] = std::max<int64_t>(other.min, 1);
    if (format::evaluate_formula(formula, all)) continue;
    text += (text.empty() ? "; give " : " ") + runtime::name_text(dimension.name) + "=NUMBER";
  }
  return text;
}

// Evaluates the dims of an input and appends them to `values`.
Status append_shape(const LoadedModule& module, size_t index,
                    const std::map<std::string, int64_t>& dims, std::vector<int64_t>& values) {
  const TensorSignature& input = module.signature().inputs[index];
  for (size_t axis = 0; axis < input.dims.size(); ++axis) {
    const std::optional<int64_t> value = format::evaluate_formula(input.dims[axis], dims);
    if (!value)
      return {StatusCode::kInvalidArgument, "input \"" + input.name + "\": dim " +
                                                std::to_string(axis) + " (" + input.dims[axis] +
                                                ") cannot be computed from the given dims" +
                                                missing_text(module, input.dims[axis], dims)};
    values.push_back(*value);
  }
  return {};
}

// The `dims` argument of a shape function, without the thread count: the dims of `inputs`, the
// registers that the shape_function instruction reads.
Result<std::vector<int64_t>> shape_inputs(const LoadedModule& module, isa::RegisterList inputs,
                                          const std::map<std::string, int64_t>& dims) {
  std::vector<int64_t> values;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const uint32_t input = inputs[i].value;
    if (input >= module.signature().inputs.size())
      return Status(
          StatusCode::kUnsupported,
          "sizes depend on values computed during the call, so no bound can be computed from "
          "dims");
    SCOPEVM_RETURN_IF_ERROR(append_shape(module, input, dims, values));
  }
  return values;
}

// Evaluates the first shape function of `entry` and returns the slots of the frame. Without a shape
// function, all slots are 0.
Result<std::vector<int64_t>> compute_slots(const LoadedModule& module,
                                           const format::FunctionDecl& entry,
                                           const std::map<std::string, int64_t>& dims,
                                           int threads) {
  std::vector<int64_t> slots(entry.slot_count);
  for (size_t pc = 0; pc < entry.code.size(); pc += isa::word_count(entry.code[pc])) {
    if (isa::opcode(entry.code[pc]) != isa::Opcode::shape_function) continue;
    const auto in = isa::decode<isa::op::shape_function>(&entry.code[pc]);
    SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> values, shape_inputs(module, in.inputs, dims));
    const format::ShapeFunctionDecl& decl = module.contents().shape_functions[in.function.value];
    if (values.size() != decl.dim_count)
      return Status(StatusCode::kInvalidModel, "the shape function expects " +
                                                   runtime::count_text(decl.dim_count, "dim") +
                                                   ", given " + std::to_string(values.size()));
    values.push_back(threads);
    SCOPEVM_ASSIGN_OR_RETURN(const KernelTable* kernels, module.kernels());
    const int64_t failed = kernels->shape_functions[in.function.value](values.data(), slots.data());
    if (failed >= 0) return check_failure(decl, failed, slots.data());
    // Later shape functions depend on values computed during the call.
    break;
  }
  return slots;
}

// REQUIRES: check_dims() succeeded.
const LoadedFunction& entry_at(const LoadedModule& module,
                               const std::map<std::string, int64_t>& dims) {
  std::vector<int64_t> values;
  for (const DimensionSignature& dimension : module.signature().dimensions)
    values.push_back(dims.at(dimension.name));
  return module.entry(values);
}

// The bound functions of an entry.
Result<const EntryBound*> bound_of(const LoadedModule& module, uint32_t entry) {
  SCOPEVM_ASSIGN_OR_RETURN(const KernelTable* kernels, module.kernels());
  const EntryBound& bound = kernels->bounds[entry];
  if (bound.function == nullptr || bound.range_function == nullptr)
    return Status(StatusCode::kUnsupported,
                  "the module has no bound function: compile it with this version");
  return &bound;
}

// `result`: of a bound function.
Status check_overflow(int64_t result) {
  if (result < 0) return {};
  return {StatusCode::kResourceLimit, kOverflowMessage};
}

}  // namespace

ScopeBound& scope_of(MemoryBound& bound, const MemoryScope& scope) {
  for (ScopeBound& known : bound.scopes)
    if (known.device == scope.device && known.scope == scope.scope) return known;
  bound.scopes.push_back({scope.device, scope.scope, 0, 0});
  return bound.scopes.back();
}

Result<std::vector<int64_t>> input_shape(const LoadedModule& module, size_t index,
                                         const std::map<std::string, int64_t>& dims) {
  const size_t count = module.signature().inputs.size();
  if (index >= count)
    return Status(StatusCode::kNotFound, "no input " + std::to_string(index) + ": the module has " +
                                             runtime::count_text(count, "input"));
  SCOPEVM_RETURN_IF_ERROR(check_names(module.signature(), dims));
  std::vector<int64_t> shape;
  SCOPEVM_RETURN_IF_ERROR(append_shape(module, index, dims, shape));
  return shape;
}

Result<MemoryBound> memory_bound(const LoadedModule& module,
                                 const std::map<std::string, int64_t>& dims, int threads) {
  SCOPEVM_RETURN_IF_ERROR(check_request(module.signature(), dims, threads));
  for (const DimensionSignature& dimension : module.signature().dimensions)
    if (!dims.contains(dimension.name))
      return Status(StatusCode::kInvalidArgument, "missing value of dimension \"" + dimension.name +
                                                      "\": expected " + dimension.name + "=NUMBER");
  const format::FunctionDecl* entry = entry_at(module, dims).decl;
  Result<std::vector<int64_t>> computed = compute_slots(module, *entry, dims, threads);
  if (!computed.ok() && entry != module.main().decl) {
    // A failed variant falls back to main, as in a call, so that error messages do not depend on
    // the variants.
    entry = module.main().decl;
    computed = compute_slots(module, *entry, dims, threads);
  }
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<int64_t> slots, std::move(computed));
  MemoryBound bound{
      .function = entry->name, .definitions = entry->definitions, .lines = {}, .scopes = {}};
  for (const format::MemoryDecl& decl : entry->memory) {
    const format::PoolDecl& pool = module.contents().pools[decl.pool];
    MemoryLine line{module.contents().devices[pool.device].name,
                    pool.scope,
                    decl.what,
                    decl.is_result,
                    slots[decl.bytes_slot],
                    slots[decl.lower_bound_slot],
                    decl.formula,
                    decl.depends_on_data};
    // The slots of data-dependent storages are computed only during a call.
    if (decl.depends_on_data) line.bytes = line.lower_bound_bytes = 0;
    ScopeBound& scope = scope_of(bound, module.memory_scopes()[decl.pool]);
    scope.bytes += line.bytes;
    scope.lower_bound_bytes += line.lower_bound_bytes;
    bound.lines.push_back(std::move(line));
  }
  return bound;
}

Status bound_in(const LoadedModule& module, uint32_t entry, const DimRange* ranges, int threads,
                int64_t* bytes) {
  SCOPEVM_ASSIGN_OR_RETURN(const EntryBound* entry_bound, bound_of(module, entry));
  std::vector<int64_t> ends;
  for (const uint32_t dimension : entry_bound->dimensions)
    ends.insert(ends.end(), {ranges[dimension].least, ranges[dimension].most});
  ends.push_back(threads);
  return check_overflow(entry_bound->range_function(ends.data(), bytes));
}

Status bound(const LoadedModule& module, std::span<const int64_t> dims, std::span<int64_t> bytes,
             int threads) {
  const std::vector<DimensionSignature>& dimensions = module.signature().dimensions;
  if (dims.size() != dimensions.size() || bytes.size() != module.memory_scopes().size())
    return {StatusCode::kInvalidArgument,
            "given " + runtime::count_text(dims.size(), "dim") + " and room for " +
                runtime::count_text(bytes.size(), "memory scope") + ", expected " +
                std::to_string(dimensions.size()) + " and " +
                std::to_string(module.memory_scopes().size())};
  if (threads < 1) return check_request(module.signature(), {}, threads);
  for (size_t i = 0; i < dims.size(); ++i)
    // Without this test, the text for check_dimension() would be made in each call.
    if (dims[i] < dimensions[i].min || dims[i] > dimensions[i].max ||
        dims[i] % dimensions[i].multiple_of != 0)
      return check_dimension(dimensions[i], dims[i], "dimension " + dimensions[i].name);
  const auto entry =
      static_cast<uint32_t>(module.entry(dims).decl - module.contents().functions.data());
  SCOPEVM_ASSIGN_OR_RETURN(const EntryBound* entry_bound, bound_of(module, entry));
  constexpr size_t kMostOnStack = 32;  // dimensions
  std::array<int64_t, kMostOnStack + 1> on_stack;
  std::vector<int64_t> on_heap;
  if (entry_bound->dimensions.size() > kMostOnStack)
    on_heap.resize(entry_bound->dimensions.size() + 1);
  int64_t* const values = on_heap.empty() ? on_stack.data() : on_heap.data();
  int64_t* end = values;
  for (const uint32_t dimension : entry_bound->dimensions) *end++ = dims[dimension];
  *end = threads;
  return check_overflow(entry_bound->function(values, bytes.data()));
}

}  // namespace scopevm::vm
