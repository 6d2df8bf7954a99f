// Verifies the tables of a module. Also defines verify().
#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>
#include <unordered_set>

#include "runtime/count_text.h"
#include "runtime/name_text.h"
#include "scopevm/tensor.h"
#include "vm/format/verify/defined_rank.h"
#include "vm/format/verify/stages.h"
#include "vm/format/verify/verify.h"
#include "vm/isa/instruction.h"

namespace scopevm::format {
namespace {

using runtime::count_text;

// Limits far above the sizes in real models. They bound the memory and time that a malicious module
// can consume.
constexpr size_t kMaxDimText = 1 << 16;
constexpr uint32_t kMaxSlots = 1 << 20;
constexpr uint32_t kSpareRegisters = 256;

bool is_stack(const ModuleContents& module, uint32_t pool) {
  return module.pools[pool].kind == PoolKind::kStack;
}

Status verify_symbols(const ModuleContents& module) {
  for (size_t i = 0; i < module.kernels.size(); ++i)
    if (module.kernels[i].symbol.empty())
      return invalid("kernel " + std::to_string(i) + ": has no symbol");
  for (size_t i = 0; i < module.shape_functions.size(); ++i) {
    const ShapeFunctionDecl& function = module.shape_functions[i];
    std::string context = "shape function " + std::to_string(i);
    if (function.symbol.empty()) return invalid(context + ": has no symbol");
    if (function.first_slot > function.slot_count)
      return invalid(context + ": writes slots from " + std::to_string(function.first_slot) +
                     " on, but has " + count_text(function.slot_count, "slot"));
    // An order of the table in which no cycle is possible.
    if (function.follows < -1 || function.follows >= static_cast<int64_t>(i))
      return invalid(context + ": follows shape function " + std::to_string(function.follows) +
                     ", expected an earlier one");
    for (const CheckDecl& check : function.checks) {
      for (uint32_t slot : {check.lhs_slot, check.rhs_slot})
        SCOPEVM_RETURN_IF_ERROR(
            check_index("check slot", slot, function.slot_count).with_context(context));
      for (uint32_t slot : check.more_slots)
        SCOPEVM_RETURN_IF_ERROR(
            check_index("check slot", slot, function.slot_count).with_context(context));
    }
  }
  return {};
}

// Strings are distinct, so that two strings are equal if and only if their ids are equal. Id 0 is
// the empty string, because it is the value of zero-initialised elements.
Status verify_strings(const ModuleContents& module) {
  if (!module.strings.empty() && !module.strings.front().empty())
    return invalid("string 0: expected the empty string");
  std::unordered_set<std::string_view> seen;
  for (size_t i = 0; i < module.strings.size(); ++i)
    if (!seen.insert(module.strings[i]).second)
      return invalid("string " + std::to_string(i) + ": duplicate of an earlier string");
  return {};
}

Status verify_ids(const ModuleContents& module, const ConstantDecl& constant) {
  if (constant.bytes.data == nullptr) return {};  // of another rank
  for (uint64_t at = 0; at < constant.bytes.size; at += sizeof(int32_t)) {
    uint32_t id = 0;
    std::memcpy(&id, constant.bytes.data + at, sizeof id);
    SCOPEVM_RETURN_IF_ERROR(check_index("string id", id, module.strings.size()));
  }
  return {};
}

Status verify_constants(const ModuleContents& module) {
  for (size_t i = 0; i < module.constants.size(); ++i) {
    const ConstantDecl& constant = module.constants[i];
    std::string context = "constant " + std::to_string(i) + " " + quoted(constant.name);
    SCOPEVM_RETURN_IF_ERROR(
        check_index("pool", constant.pool, module.pools.size()).with_context(context));
    if (is_stack(module, constant.pool))
      return invalid(context + ": stack pool: a constant cannot be stored in a frame");
    SCOPEVM_RETURN_IF_ERROR(check_dtype(constant.dtype).with_context(context));
    int64_t bytes = checked_byte_size(constant.dims, constant.dtype);
    if (bytes < 0) return invalid(context + ": dims are negative or too large");
    if (static_cast<uint64_t>(bytes) != constant.bytes.size)
      return invalid(context + ": dims require " + count_text(bytes, "byte") + ", given " +
                     std::to_string(constant.bytes.size));
    if (constant.dtype == DType::kStr)
      SCOPEVM_RETURN_IF_ERROR(verify_ids(module, constant).with_context(context));
  }
  return {};
}

bool is_dim_number(const std::string& dim) {
  int64_t value = -1;
  auto [end, error] = std::from_chars(dim.data(), dim.data() + dim.size(), value);
  return error == std::errc() && end == dim.data() + dim.size() && value >= 0;
}

// A test of the spelling suffices, because the shape function computes the dim and compares it with
// that of the input.
bool is_expression(const std::string& dim) {
  return dim.find_first_of("+-*(") != std::string::npos;
}

Status verify_tensor(const ModuleContents& module, const TensorDecl& tensor) {
  SCOPEVM_RETURN_IF_ERROR(
      check_index("pool", tensor.pool, module.pools.size()).with_context(quoted(tensor.name)));
  SCOPEVM_RETURN_IF_ERROR(check_dtype(tensor.dtype).with_context(quoted(tensor.name)));
  SCOPEVM_RETURN_IF_ERROR(
      check_index("value kind", static_cast<uint8_t>(tensor.kind), kValueKindCount)
          .with_context(quoted(tensor.name)));
  for (const std::string& dim : tensor.dims)
    if (dim.empty() || dim.size() > kMaxDimText)
      return invalid(quoted(tensor.name) + ": a dim has " + count_text(dim.size(), "character") +
                     ", expected 1 to " + std::to_string(kMaxDimText));
  return {};
}

Status verify_bounds(const DimensionDecl& dimension) {
  if (dimension.min >= 0 && dimension.min <= dimension.max && dimension.multiple_of >= 1) return {};
  return invalid("dimension " + quoted(dimension.name) + ": invalid bounds: min " +
                 std::to_string(dimension.min) + ", max " + std::to_string(dimension.max) +
                 ", multiple_of " + std::to_string(dimension.multiple_of) +
                 "; expected 0 <= min <= max and multiple_of >= 1");
}

// A default has the type of its input. A call compares its dims with those of the other inputs.
Status verify_default(const ModuleContents& module, const TensorDecl& input) {
  if (input.default_constant == -1) return {};
  const auto index = static_cast<uint32_t>(input.default_constant);
  SCOPEVM_RETURN_IF_ERROR(check_index("constant", index, module.constants.size()));
  const ConstantDecl& constant = module.constants[index];
  if (module.rank_of(constant.pool) != 0)
    return invalid("default " + quoted(constant.name) + " is in memory of rank " +
                   std::to_string(module.rank_of(constant.pool)) + ", expected rank 0");
  bool fits = input.kind == ValueKind::kTensor && input.dtype != DType::kStr &&
              constant.dtype == input.dtype && constant.dims.size() == input.dims.size();
  for (size_t axis = 0; fits && axis < input.dims.size(); ++axis)
    fits =
        !is_dim_number(input.dims[axis]) || input.dims[axis] == std::to_string(constant.dims[axis]);
  return fits ? Status()
              : invalid("default " + quoted(constant.name) + ": not of the input's type");
}

// The value of a state has the type of its input. Dims that differ are compared by each call.
Status verify_state(const FunctionDecl& function, const TensorDecl& input) {
  if (input.state_output == -1 && !input.is_in_place) return {};
  const auto index = static_cast<uint32_t>(input.state_output);
  SCOPEVM_RETURN_IF_ERROR(check_index("state output", index, function.outputs.size()));
  const TensorDecl& output = function.outputs[index];
  const bool fits = input.kind == ValueKind::kTensor && output.kind == ValueKind::kTensor &&
                    input.dtype != DType::kStr && output.dtype == input.dtype &&
                    output.dims.size() == input.dims.size() &&
                    (!input.is_in_place || output.dims == input.dims);
  return fits ? Status()
              : invalid("state output " + quoted(output.name) + ": not of the input's type");
}

// Whether the value is an input with a state in place, or its output in the same pool.
bool is_changed_in_place(const FunctionDecl& function, const TensorDecl& value) {
  return std::ranges::any_of(function.inputs, [&](const TensorDecl& input) {
    if (!input.is_in_place) return false;
    const TensorDecl& output = function.outputs[static_cast<size_t>(input.state_output)];
    return (&value == &input || &value == &output) && input.pool == output.pool;
  });
}

// Verifies the inputs and outputs of an entry function (main or a variant): no closures, and host
// memory outside of frames. Callers' tensors are not in memory that another device accesses.
Status verify_entry(const ModuleContents& module, const FunctionDecl& function) {
  for (const TensorDecl& input : function.inputs) {
    SCOPEVM_RETURN_IF_ERROR(
        verify_default(module, input).with_context("input " + quoted(input.name)));
    SCOPEVM_RETURN_IF_ERROR(
        verify_state(function, input).with_context("input " + quoted(input.name)));
    if (const auto device = module.sharing_device(module.pools[input.pool]))
      return invalid("input " + quoted(input.name) + " is declared in pool " +
                     quoted(module.pools[input.pool].scope) + ", which device " +
                     quoted(module.devices[*device].name) + " accesses");
  }
  for (const std::vector<TensorDecl>* values : {&function.inputs, &function.outputs})
    for (const TensorDecl& value : *values)
      if (value.kind == ValueKind::kClosure)
        return invalid(quoted(value.name) + ": a closure cannot cross the interface of the module");
      else if (is_stack(module, value.pool))
        return invalid(quoted(value.name) +
                       ": stack pool: a value of the module's interface "
                       "cannot be stored in a frame");
      else if (!module.devices[module.pools[value.pool].device].is_host())
        return invalid(
            quoted(value.name) +
            ": a value of the module's interface must be in host memory, given memory of " +
            device_text(module, value.pool));
      else if (module.rank_of(value.pool) != 0 && !is_changed_in_place(function, value))
        return invalid(quoted(value.name) +
                       ": a value of the module's interface that is not a state in place must be "
                       "in memory of rank 0, given memory of " +
                       device_text(module, value.pool));
  return {};
}

Status verify_signature(const ModuleContents& module, const FunctionDecl& function) {
  std::set<std::string> symbols;  // as in formulas
  for (const DimensionDecl& dimension : function.dimensions) {
    if (dimension.name.empty()) return invalid("dimension without a name");
    if (!symbols.insert(runtime::name_text(dimension.name)).second)
      return invalid("duplicate dimension " + quoted(dimension.name));
    SCOPEVM_RETURN_IF_ERROR(verify_bounds(dimension));
  }
  std::set<std::string_view> names;
  for (const TensorDecl& input : function.inputs) {
    SCOPEVM_RETURN_IF_ERROR(verify_tensor(module, input).with_context("input"));
    if (!names.insert(input.name).second) return invalid("duplicate input " + quoted(input.name));
    for (const std::string& dim : input.dims) {
      if (input.kind != ValueKind::kTensor) {
        bool is_any = dim == kAnyDim || (dim == kAnyDims && input.dims.size() == 1);
        if (!is_any && !is_dim_number(dim))
          return invalid("input " + quoted(input.name) + ": dim " + quoted(dim) +
                         " of its elements: expected a number or \"?\"");
        continue;
      }
      if (!is_dim_number(dim) && !symbols.contains(dim) && !is_expression(dim))
        return invalid("input " + quoted(input.name) + ": dim " + quoted(dim) +
                       ": expected a number, a declared dimension or an expression");
    }
  }
  for (const TensorDecl& output : function.outputs) {
    SCOPEVM_RETURN_IF_ERROR(verify_tensor(module, output).with_context("output"));
    if (is_stack(module, output.pool))
      return invalid("output " + quoted(output.name) +
                     ": is stored in a frame that ends with the call");
  }
  return function.name == kEntryName ? verify_entry(module, function) : Status();
}

Status verify_function_sizes(const FunctionDecl& function) {
  // In compiled code almost every register is an input or occurs in an instruction. The limit
  // bounds the size of a frame by the size of the file: a small file cannot reserve gigabytes.
  uint64_t most = function.inputs.size() + function.code.size() + kSpareRegisters;
  if (function.register_count < function.inputs.size())
    return invalid(count_text(function.register_count, "register") + ", expected at least " +
                   std::to_string(function.inputs.size()) + " for the inputs");
  if (function.register_count > most)
    return invalid(std::to_string(function.register_count) +
                   " registers are too many for the code");
  if (function.slot_count > kMaxSlots)
    return invalid(std::to_string(function.slot_count) + " slots, the limit is " +
                   std::to_string(kMaxSlots));
  return {};
}

Status verify_functions(const ModuleContents& module) {
  std::set<std::string_view> names;
  for (const FunctionDecl& function : module.functions) {
    if (!names.insert(function.name).second)
      return invalid("duplicate function " + quoted(function.name));
    SCOPEVM_RETURN_IF_ERROR(verify_signature(module, function).with_context(function.name));
    SCOPEVM_RETURN_IF_ERROR(verify_function_sizes(function).with_context(function.name));
  }
  return names.contains(kEntryName) ? Status() : invalid("module has no function \"main\"");
}

// Callers see only the signature of main. A variant must therefore have the same names, kinds,
// element types and ranks, and a state that main has in memory of another rank of the job.
bool are_alike(const ModuleContents& module, const std::vector<TensorDecl>& a,
               const std::vector<TensorDecl>& b) {
  return std::ranges::equal(a, b, [&](const TensorDecl& x, const TensorDecl& y) {
    return x.name == y.name && x.kind == y.kind && x.dtype == y.dtype &&
           x.dims.size() == y.dims.size() && module.rank_of(x.pool) == module.rank_of(y.pool) &&
           (module.rank_of(x.pool) == 0 || x.state_output == y.state_output);
  });
}

Status verify_variant(const ModuleContents& module, const VariantDecl& variant,
                      const FunctionDecl& main) {
  const std::vector<FunctionDecl>& functions = module.functions;
  SCOPEVM_RETURN_IF_ERROR(check_index("function", variant.function, functions.size()));
  const FunctionDecl& function = functions[variant.function];
  if (&function == &main) return invalid("function is main, expected another function");
  const std::string expected =
      " differ from those of main: expected the same names, kinds, element types and ranks";
  if (!are_alike(module, function.inputs, main.inputs)) return invalid("inputs" + expected);
  if (!are_alike(module, function.outputs, main.outputs)) return invalid("outputs" + expected);
  // LoadedModule::entry() compares the values of the dimensions by position.
  if (!std::ranges::equal(variant.dimensions, main.dimensions, {}, &DimensionDecl::name,
                          &DimensionDecl::name))
    return invalid("dimensions differ from those of main: expected the same names in this order");
  for (const DimensionDecl& dimension : variant.dimensions)
    SCOPEVM_RETURN_IF_ERROR(verify_bounds(dimension));
  return verify_entry(module, function);
}

// REQUIRES: the module has a function `main`.
Status verify_variants(const ModuleContents& module) {
  for (size_t i = 0; i < module.variants.size(); ++i)
    SCOPEVM_RETURN_IF_ERROR(verify_variant(module, module.variants[i], *module.main())
                                .with_context("variant " + std::to_string(i)));
  return {};
}

// Verifies the ranks of all tensors, which the interpreter stores in arrays of kMaxRank dims.
Status verify_ranks(const ModuleContents& module, const FunctionDecl& function,
                    const std::vector<uint32_t>& starts) {
  size_t rank = 0;
  for (const TensorDecl& input : function.inputs) rank = std::max(rank, input.dims.size());
  for (const uint32_t start : starts) {
    const isa::Instruction in = isa::verified_instruction(function.code, start);
    for (const isa::Instruction::Field& field : in.fields())
      if (is_written(field.access()))
        for (uint32_t i = 0; i < field.words.size(); ++i)
          rank = std::max(rank, size_t{defined_rank(module, in, field, i)});
  }
  if (rank <= kMaxRank) return {};
  return {StatusCode::kUnsupported, "a tensor has rank " + std::to_string(rank) +
                                        ", the limit is " + std::to_string(kMaxRank)};
}

Status verify_code(const ModuleContents& module, const FunctionDecl& function,
                   const FlowTables& tables) {
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<uint32_t> starts, verify_instructions(module, function));
  SCOPEVM_RETURN_IF_ERROR(verify_ranks(module, function, starts));
  return verify_flow(module, function, starts, tables);
}

}  // namespace

Status check_index(std::string_view what, uint64_t index, uint64_t count) {
  if (index < count) return {};
  return invalid(std::string(what) + " " + std::to_string(index) + " is out of range [0, " +
                 std::to_string(count) + ")");
}

Status check_dtype(DType dtype) {
  return check_index("element type", static_cast<uint8_t>(dtype), kDTypeCount);
}

int64_t checked_byte_size(const std::vector<int64_t>& dims, DType dtype) {
  // With a zero dim the size is zero even if the product of the other dims overflows.
  if (std::ranges::any_of(dims, [](int64_t dim) { return dim < 0; })) return -1;
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  const int64_t element = byte_size(dtype);
  int64_t bytes = element;
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(bytes, dim, &bytes)) return -1;
  return byte_size(dtype, bytes / element);
}

Status verify_declarations(const ModuleContents& module) {
  SCOPEVM_RETURN_IF_ERROR(verify_machine(module));
  SCOPEVM_RETURN_IF_ERROR(verify_images(module));
  SCOPEVM_RETURN_IF_ERROR(verify_symbols(module));
  SCOPEVM_RETURN_IF_ERROR(verify_externals(module));
  SCOPEVM_RETURN_IF_ERROR(verify_launches(module));
  SCOPEVM_RETURN_IF_ERROR(verify_strings(module));
  SCOPEVM_RETURN_IF_ERROR(verify_constants(module));
  SCOPEVM_RETURN_IF_ERROR(verify_functions(module));
  return verify_variants(module);
}

Status verify(const ModuleContents& module) {
  SCOPEVM_RETURN_IF_ERROR(verify_declarations(module));
  const FlowTables tables{reaches_of(module), ShapeFunctionTree(module)};
  for (const FunctionDecl& function : module.functions)
    SCOPEVM_RETURN_IF_ERROR(verify_code(module, function, tables).with_context(function.name));
  return {};
}

}  // namespace scopevm::format
