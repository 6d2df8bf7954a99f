// Emits the tables of the module: devices, pools, signatures, memory formulas, shape functions,
// kernels, strings, constants.
#include "compiler/bytecode/emit.h"

#include <algorithm>
#include <set>

#include "compiler/bytecode/call_memory.h"
#include "compiler/dims/dim_text.h"
#include "scopevm/kernel_abi.h"

namespace scopevm::compiler::bytecode {
namespace {

// The name of the memory entry for calls that are not inlined.
constexpr char kCalls[] = "calls";

std::string dim_text(DimExpr dim) {
  return dim.is_constant(Value::kAnyDim) ? format::kAnyDim : dim.str();
}

format::TensorDecl tensor_decl(const Machine& machine, const std::string& name,
                               const Value& value) {
  format::TensorDecl decl{name, value.dtype, {}};
  decl.pool = result_pool(machine, value).value;
  for (DimExpr dim : value.shape) decl.dims.push_back(dim_text(dim));
  if (value.any_rank) decl.dims = {format::kAnyDims};
  decl.kind = value.kind;
  if (value.origin == ValueOrigin::kInput && value.constant)
    decl.default_constant = static_cast<int32_t>(value.constant->value);
  return decl;
}

// Adds entries for memory that depends on data: the arenas of later segments, values for which
// is_made_by_data() holds, and one entry for all lists.
void add_memory_by_data(const Machine& machine, const Function& function, PlannedFunction& planned,
                        format::FunctionDecl& decl) {
  ShapeProgram& shapes = planned.shapes;
  const IndexedVector<ValueId, bool> is_output = output_roots(function);
  // These storages are not all live at the same time, or not allocated in every call.
  const auto no_lower_bound = [&] { return shapes.slot_of(shapes.constant(0)).value; };
  for (const memory::Arena& arena : planned.plan.arenas) {
    if (arena.segment == SegmentIndex{0}) continue;
    decl.memory.push_back({arena.pool.value, "segment " + std::to_string(arena.segment.value),
                           false, shapes.slot_of(arena.height).value, no_lower_bound(), "", true});
  }
  bool has_lists = std::ranges::any_of(function.inputs,
                                       [&](ValueId id) { return function.values[id].is_list(); });
  for (const Step& step : function.steps)
    for (ValueId id : step.results) {
      const Value& value = function.values[id];
      has_lists = has_lists || value.is_list();
      if (is_output[id] || !is_made_by_data(function, step, id)) continue;
      const bool is_made_by_callee = step.is<step::Call, step::CallClosure>();
      const PoolIndex pool =
          is_made_by_callee ? machine.global_pool(value.place.device) : value.place.pool;
      const uint32_t slot = shapes.slot_of(shapes.value(value.bytes())).value;
      decl.memory.push_back({pool.value, value.name, false, slot, no_lower_bound(), "", true});
    }
  if (!has_lists) return;
  const uint32_t lists = machine.global_pool(machine.host_device()).value;
  decl.memory.push_back({lists, "lists", false, no_lower_bound(), no_lower_bound(),
                         "list lengths and elements", true});
}

// Adds an entry for the contents of strings if any function of the program has string tensors.
// Memory plans include only the string ids.
void add_strings(const Program& program, ShapeProgram& shapes, format::FunctionDecl& decl) {
  const auto is_string = [](const Value& value) { return value.dtype == DType::kStr; };
  const auto has_strings = [&](const Function& f) {
    return std::ranges::any_of(f.values, is_string);
  };
  if (std::ranges::none_of(program.functions, has_strings)) return;
  const uint32_t none = shapes.slot_of(shapes.value(0)).value;
  const uint32_t pool = program.machine.global_pool(program.machine.host_device()).value;
  decl.memory.push_back({pool, "strings", false, none, none, "string data of the call", true});
}

// The pools in which a call may need an unknown amount of memory. These are the workspace and
// global pools of all devices, and every other pool of a computed value or a temporary.
std::vector<PoolIndex> pools_of_calls(const Program& program) {
  const Machine& machine = program.machine;
  std::vector<PoolIndex> pools;
  for (DeviceIndex device : machine.devices.indices()) {
    pools.push_back(machine.workspace_pool(device));
    pools.push_back(machine.global_pool(device));
  }
  std::set<PoolIndex> others;
  for (const Function& function : program.functions) {
    for (const Value& value : function.values)
      if (value.origin == ValueOrigin::kStep) others.insert(value.place.pool);
    for (const Step& step : function.steps)
      for (const Temporary& temporary : step.temporaries()) others.insert(temporary.pool);
  }
  std::ranges::copy_if(others, std::back_inserter(pools), [&](PoolIndex pool) {
    return std::ranges::find(pools, pool) == pools.end();
  });
  return pools;
}

void add_memory_of_calls(const Program& program, const CallMemory& calls, ShapeProgram& shapes,
                         format::FunctionDecl& decl) {
  auto add = [&](PoolIndex pool, const char* what, const CallBytes& bytes) {
    decl.memory.push_back({pool.value, what, false, shapes.slot_of(bytes.most).value,
                           shapes.slot_of(bytes.lower_bound).value, "", false});
  };
  for (const auto& [pool, bytes] : calls.bytes) add(pool, kCalls, bytes);
  for (const CallMemory::Open& open : calls.open)
    for (PoolIndex pool : pools_of_calls(program)) {
      const uint32_t none = shapes.slot_of(shapes.constant(0)).value;
      const char* why = open.is_recursive ? "recursion" : "data-dependent";
      decl.memory.push_back({pool.value, open.what, false, none, none, why, true});
    }
}

// Sets the missing formulas of entries. The formula of an entry is that of its slot.
void add_formulas(PlannedFunction& planned, format::FunctionDecl& decl) {
  const ShapeProgram& shapes = planned.shapes;
  std::vector<format::MemoryDecl*> entries;
  std::vector<ShapeProgram::ValueIndex> values;
  for (format::MemoryDecl& entry : decl.memory) {
    if (!entry.formula.empty()) continue;
    entries.push_back(&entry);
    values.push_back(*shapes.stores()[SlotIndex{entry.bytes_slot}]);
  }
  // One call for all formulas of a function, so that they share the definitions of common parts.
  const std::vector<DimExpr> formulas = shapes.formulas(values);
  for (size_t i = 0; i < entries.size(); ++i)
    if (!entries[i]->depends_on_data)
      planned.storages.push_back({PoolIndex{entries[i]->pool}, values[i], formulas[i]});
  FormulaText text = formula_text(formulas);
  for (size_t i = 0; i < entries.size(); ++i) entries[i]->formula = std::move(text.formulas[i]);
  decl.definitions = std::move(text.definitions);
  // Removes the entries of calls that need no more memory than the results.
  std::erase_if(decl.memory, [](const format::MemoryDecl& entry) {
    return entry.what == kCalls && entry.formula == "0";
  });
}

void add_memory(const Program& program, const Function& function, PlannedFunction& planned,
                const CallMemory& calls, const Code& code, format::FunctionDecl& decl) {
  const Machine& machine = program.machine;
  ShapeProgram& shapes = planned.shapes;
  for (const memory::Arena& arena : planned.plan.arenas)
    if (arena.segment == SegmentIndex{0})
      decl.memory.push_back({arena.pool.value, "workspace", false,
                             shapes.slot_of(arena.height).value,
                             shapes.slot_of(arena.lower_bound).value, "", false});
  add_memory_of_calls(program, calls, shapes, decl);
  add_memory_by_data(machine, function, planned, decl);
  for (size_t i = 0; i < function.outputs.size(); ++i) {
    const uint32_t slot = code.result_bytes_slots[i].value;
    const Value& output = function.values[function.outputs[i]];
    const uint32_t pool = result_pool(machine, output).value;
    if (output.is_list()) {
      decl.memory.push_back(
          {pool, function.output_names[i], true, slot, slot, "elements of the list", true});
      continue;
    }
    const bool is_by_data = depends_on_data(function, output.bytes());
    // The peak of the calls may be over before a data-dependent result is allocated.
    const bool has_lower_bound = !is_by_data || calls.bytes.empty();
    const uint32_t lower_bound = has_lower_bound ? slot : shapes.slot_of(shapes.constant(0)).value;
    decl.memory.push_back(
        {pool, function.output_names[i], true, slot, lower_bound, "", is_by_data});
  }
}

format::ShapeFunctionDecl shape_function_decl(
    const Function& function, const ShapeProgram& shapes, SegmentIndex segment,
    const std::optional<isa::ShapeFunctionIndex>& follows) {
  format::ShapeFunctionDecl decl;
  decl.symbol = shape_symbol(function, segment);
  decl.first_slot = shapes.first_slot().value;
  decl.slot_count = static_cast<uint32_t>(shapes.stores().size());
  if (follows) decl.follows = static_cast<int32_t>(follows->value);
  // Only the first segment has inputs. Later segments read slots that earlier segments have
  // written.
  decl.dim_count = segment.value == 0 ? shapes.dim_count() : 0;
  for (const ShapeProgram::Condition* condition : shapes.conditions_of(segment)) {
    auto& check = decl.checks.emplace_back();
    check = {condition->message, condition->lhs_slot.value, condition->rhs_slot.value, {}};
    for (SlotIndex slot : condition->more_slots) check.more_slots.push_back(slot.value);
  }
  // The check after the last condition reports an overflow in the shape function.
  decl.checks.push_back({kOverflowMessage, 0, 0, {}});
  return decl;
}

std::optional<format::ExternalDecl> external_decl(const Kernel& kernel) {
  if (!kernel.external) return std::nullopt;
  format::ExternalDecl decl{kernel.external->library, kernel.external->description, {}, {}};
  for (const ExternalFunction::Tensor& tensor : kernel.external->operands)
    decl.operands.push_back({tensor.dtype, static_cast<uint32_t>(tensor.rank)});
  for (const ExternalFunction::Tensor& tensor : kernel.external->results)
    decl.results.push_back({tensor.dtype, static_cast<uint32_t>(tensor.rank)});
  return decl;
}

// Appends the function to `module`, with its shape functions, launches and messages. Appends the
// operations of its launches to `flops`.
Status add_function(const Program& program, FunctionIndex index, PlannedFunction& planned,
                    const CallMemory& calls, format::ModuleContents& module,
                    std::vector<format::LaunchFlops>& flops) {
  const Machine& machine = program.machine;
  const Function& function = program.functions[index];
  format::FunctionDecl decl;
  decl.name = function.name;
  for (ValueId input : function.inputs)
    decl.inputs.push_back(
        tensor_decl(machine, function.values[input].name, function.values[input]));
  for (size_t i = 0; i < function.outputs.size(); ++i)
    decl.outputs.push_back(
        tensor_decl(machine, function.output_names[i], function.values[function.outputs[i]]));
  for (const StateTie& state : function.states) {
    decl.inputs[state.input].state_output = static_cast<int32_t>(state.output);
    decl.inputs[state.input].is_in_place = state.is_in_place;
  }
  for (const Dimension& dimension : function.dimensions)
    decl.dimensions.push_back({dimension.name, dimension.min, dimension.max, dimension.multiple_of,
                               dimension.batch_obstacle == ""});
  SCOPEVM_ASSIGN_OR_RETURN(Code code, emit_code(machine, function, planned, module));
  // The code and the memory entries add slots to the shape program, so slot_count is read after
  // both.
  add_memory(program, function, planned, calls, code, decl);
  add_strings(program, planned.shapes, decl);
  add_formulas(planned, decl);
  decl.register_count = code.register_count;
  decl.slot_count = static_cast<uint32_t>(planned.shapes.stores().size());
  decl.code = std::move(code.words);
  decl.sources = std::move(code.sources);
  for (format::LaunchFlops& launch : code.flops) {
    launch.function = index.value;
    flops.push_back(std::move(launch));
  }
  module.functions.push_back(std::move(decl));
  for (SegmentIndex segment : function.segments.indices())
    module.shape_functions.push_back(
        shape_function_decl(function, planned.shapes, segment, code.follows[segment]));
  return {};
}

}  // namespace

std::string shape_symbol(const Function& function, SegmentIndex segment) {
  // No function name ends in a dot and a number, so the symbols are distinct.
  return "shape_" + function.name + (segment.value == 0 ? "" : "." + std::to_string(segment.value));
}

Result<format::ModuleContents> emit_module(const Program& program, PlannedFunctions& planned) {
  format::ModuleContents module;
  module.producer = "scopevm 0.1.0";
  const Machine& machine = program.machine;
  for (const Device& device : machine.devices)
    module.devices.push_back({device.name, device.kind, device.is_host() ? 0 : device.workers,
                              device.is_host() ? 0U : static_cast<uint32_t>(device.number),
                              static_cast<uint32_t>(device.rank)});
  if (machine.ranks() > 1) module.required_features.emplace_back(format::kRanksFeature);
  for (const Pool& pool : machine.pools) {
    format::PoolDecl& decl = module.pools.emplace_back();
    decl = {.scope = pool.scope,
            .kind = pool.kind,
            .device = pool.device.value,
            .limit = pool.limit.value_or(-1),
            .shared_with = {},
            .speed = pool.speed,
            .alignment = static_cast<uint32_t>(pool.alignment)};
    // The first device is the owner of the pool.
    for (DeviceIndex device : pool.reached | std::views::drop(1))
      decl.shared_with.push_back(device.value);
    if (pool.pinned_for) decl.pinned_for = static_cast<int32_t>(pool.pinned_for->value);
  }
  for (const Kernel& kernel : program.kernels)
    module.kernels.push_back({kernel.symbol, static_cast<uint32_t>(kernel.buffer_count),
                              static_cast<uint32_t>(kernel.param_count), kernel.device.value,
                              external_decl(kernel)});
  module.strings = program.strings;
  for (const Constant& constant : program.constants)
    module.constants.push_back(
        {constant.name,
         constant.dtype,
         constant.dims,
         constant.pool.value,
         {constant.owner, constant.data, static_cast<uint64_t>(constant.bytes)}});
  const IndexedVector<FunctionIndex, CallMemory> calls = memory_of_calls(program, planned);
  std::vector<format::LaunchFlops> flops;
  for (FunctionIndex i : program.functions.indices())
    SCOPEVM_RETURN_IF_ERROR(add_function(program, i, planned[i], calls[i], module, flops));
  if (!flops.empty()) {
    const std::string text = format::flops_text(flops);
    module.sections.push_back(
        {format::kFlopsSection, false, format::aligned_copy(text.data(), text.size())});
  }
  return module;
}

}  // namespace scopevm::compiler::bytecode
