// Assigns registers to values, and emits launches and copies; see code_emitter.h.
#include <algorithm>
#include <utility>

#include "compiler/bytecode/code_emitter.h"

namespace scopevm::compiler::bytecode {
namespace {

using isa::Int;
using isa::RegisterIndex;
namespace op = isa::op;

constexpr SegmentIndex kEntry{0};  // the segment that begins at the function's entry

// The step after which an arena may be released: the last step that uses the arena, or the end of a
// branch or loop that contains that step and begins after the arena's segment. The arena is always
// released before the end of a branch or loop in which its segment begins.
int64_t end_of_arena(const Function& function, const memory::Plan& plan,
                     const memory::Arena& arena) {
  int64_t last = -1;
  for (BufferIndex buffer : arena.buffers)
    last = std::max(last, plan.liveness.buffers[buffer].upper - 1);
  const auto begin =
      std::ranges::find(function.steps, arena.segment, &Step::segment) - function.steps.begin();
  int depth = 0;  // nesting of branches and loops since the segment began
  for (auto at = static_cast<int64_t>(begin) + 1;; ++at) {
    const Step& step = function.steps[at];
    if (step.is<step::EndIf, step::EndLoop>()) --depth;
    if (depth < 0 || (depth == 0 && step.is<step::Else>())) return at - 1;
    if (step.is<step::If, step::Loop>()) ++depth;
    const bool is_last = at + 1 == static_cast<int64_t>(function.steps.size());
    if (is_last || (depth == 0 && at >= last)) return at;
  }
}

// The symbols in the dims and offsets of the function's values, and in the expressions of its
// steps.
std::set<std::string> symbols_of(const Function& function) {
  std::set<std::string> symbols;
  std::set<DimExpr> seen;
  auto add = [&](DimExpr expr) {
    if (!seen.insert(expr).second) return;
    for (const std::string& symbol : expr.symbols()) symbols.insert(symbol);
  };
  for (const Value& value : function.values) {
    std::ranges::for_each(value.shape, add);
    add(value.offset);
  }
  for (const Step& step : function.steps) std::ranges::for_each(step.expressions(), add);
  return symbols;
}

}  // namespace

CodeEmitter::CodeEmitter(const Machine& machine, const Function& function, PlannedFunction& planned,
                         format::ModuleContents& module)
    : machine_(machine),
      function_(function),
      shapes_(planned.shapes),
      plan_(planned.plan),
      module_(module),
      first_shape_function_{static_cast<uint32_t>(module.shape_functions.size())},
      in_effect_(first_shape_function_),
      is_output_(output_roots(function)),
      used_symbols_(symbols_of(function)),
      dying_(function.steps.size()),
      ending_(function.steps.size()),
      registers_(function.values.size()),
      storages_(function.values.size()),
      arenas_(planned.plan.arenas.size()) {
  code_.follows.resize(function.segments.size());
  const memory::LastSteps last_uses = memory::last_uses(function);
  const memory::LastSteps releases = memory::release_steps(function);
  for (ValueId id : function.values.indices()) {
    // A register that references a storage must be released on every path, at the end of the
    // branches. The release of any other register emits no instruction, so that register is free
    // after the last use in program order.
    const std::optional<int64_t> last = holds_reference(id) ? releases[id] : last_uses[id];
    if (last && *last < static_cast<int64_t>(function.steps.size())) dying_[*last].push_back(id);
  }
  for (size_t step = 0; step < function.steps.size(); ++step)
    for (ValueId result : function.steps[step].results)
      // An unused result is dead after the step that writes it.
      if (!last_uses[root_of(function, result)]) dying_[step].push_back(result);
  for (ArenaIndex arena : plan_.arenas.indices())
    if (plan_.arenas[arena].segment != kEntry)
      ending_[end_of_arena(function, plan_, plan_.arenas[arena])].push_back(arena);
}

Result<Code> CodeEmitter::run() {
  emit_entry();
  for (size_t i = 0; i < function_.steps.size(); ++i) {
    emit_step(function_.steps[i], static_cast<int64_t>(i));
    release_dead(static_cast<int64_t>(i));
  }
  emit_return();
  SCOPEVM_ASSIGN_OR_RETURN(code_.words, encoder_.finish());
  code_.register_count = register_count_;
  return std::move(code_);
}

// --- Operands. ----------------------------------------------------------------------------------

// An operand of type int: an immediate for a small non-negative constant, otherwise a slot.
Int CodeEmitter::int_operand(ValueIndex value) {
  std::optional<int64_t> constant = shapes_.constant_of(value);
  if (constant && *constant >= 0 && *constant <= Int::kMaxImmediate)
    return Int::immediate(*constant);
  return Int::slot(shapes_.slot_of(value));
}

std::vector<Int> CodeEmitter::dims_operand(const Value& value) {
  std::vector<Int> dims;
  for (DimExpr dim : value.shape) dims.push_back(int_operand(dim));
  return dims;
}

// --- Registers. ---------------------------------------------------------------------------------

RegisterIndex CodeEmitter::take_register() {
  if (free_.empty()) return new_register();
  const RegisterIndex reg = free_.back();
  free_.pop_back();
  return reg;
}

void CodeEmitter::free_register(std::optional<RegisterIndex>& reg, bool owns_memory) {
  if (owns_memory) encoder_.emit(op::kill{.value = *reg});
  free_.push_back(*std::exchange(reg, std::nullopt));
}

ValueId CodeEmitter::shown_in(ValueId id) const {
  while (function_.values[id].origin == ValueOrigin::kView) id = *function_.values[id].view_of;
  return id;
}

RegisterIndex CodeEmitter::register_of(ValueId id) {
  const ValueId shown = shown_in(id);
  const Value& value = function_.values[shown];
  std::optional<RegisterIndex>& reg = registers_[shown];
  // A constant is loaded at its first use. load_constants_of_region() has already loaded those that
  // branches and loops use.
  if (!reg && value.origin == ValueOrigin::kConstant) {
    reg = take_register();
    encoder_.emit(op::load_const{.dst = *reg, .constant = *value.constant});
  }
  if (!reg && value.origin == ValueOrigin::kPart) make_part(shown);
  return *reg;
}

// True if the value's register references a storage that can be released before the call ends.
bool CodeEmitter::holds_reference(ValueId root) const {
  const Value& value = function_.values[root];
  if (value.storage != ValueStorage::kPlanned) return true;
  const std::optional<BufferIndex> buffer = plan_.liveness.buffer_of_value[root];
  return buffer && plan_.liveness.buffers[*buffer].segment != kEntry;
}

void CodeEmitter::release(ValueId id) {
  const ValueId root = root_of(function_, id);
  // `ret` reads the results, and the caller owns the inputs. A value without a register was never
  // used.
  if (is_output_[root] || function_.values[id].origin == ValueOrigin::kInput || !registers_[id])
    return;
  if (holds_reference(root)) encoder_.emit(op::kill{.value = *registers_[id]});
  if (storages_[id]) free_register(storages_[id], /*owns_memory=*/true);
  free_register(registers_[id], /*owns_memory=*/false);
}

// Releases the registers of values whose last use is step `at`, and the storages of arenas.
void CodeEmitter::release_dead(int64_t at) {
  for (ValueId root : dying_[at]) release(root);
  for (ArenaIndex arena : ending_[at])
    if (arenas_[arena]) free_register(arenas_[arena], /*owns_memory=*/true);
}

// --- Storages and tensors. ----------------------------------------------------------------------

void CodeEmitter::emit_entry() {
  std::vector<RegisterIndex> inputs;
  for (ValueId input : function_.inputs) {
    registers_[input] = new_register();
    if (!function_.values[input].is_list()) inputs.push_back(*registers_[input]);
  }
  encoder_.emit(op::shape_function{.function = first_shape_function_, .inputs = inputs});
  emit_arenas(kEntry);
}

// Allocates the planned storages of a segment, one in each pool.
void CodeEmitter::emit_arenas(SegmentIndex segment) {
  for (ArenaIndex i : plan_.arenas.indices()) {
    const memory::Arena& arena = plan_.arenas[i];
    if (arena.segment != segment) continue;
    // A segment in a loop begins in each iteration. It then allocates to the same register, which
    // releases the storage of the previous iteration.
    if (!arenas_[i]) arenas_[i] = take_register();
    emit_storage(*arenas_[i], arena.pool, int_operand(arena.height));
  }
}

void CodeEmitter::emit_storage(RegisterIndex reg, PoolIndex pool, Int bytes) {
  encoder_.emit(op::alloc_storage{.dst = reg, .from = pool, .size = bytes});
}

void CodeEmitter::emit_tensor(RegisterIndex reg, RegisterIndex storage, ValueIndex offset,
                              Int bytes, DType dtype, const std::vector<Int>& dims) {
  encoder_.emit(op::alloc_tensor{.dst = reg,
                                 .storage = storage,
                                 .offset = int_operand(offset),
                                 .bytes = bytes,
                                 .dtype = dtype,
                                 .dims = dims});
}

void CodeEmitter::emit_tensor(RegisterIndex reg, RegisterIndex storage, ValueIndex offset,
                              const Value& value) {
  Int bytes = int_operand(value.bytes());
  emit_tensor(reg, storage, offset, bytes, value.dtype, dims_operand(value));
}

// Emits a view of register `of` with the value's dims.
void CodeEmitter::emit_view(RegisterIndex reg, RegisterIndex of, const Value& value) {
  std::vector<Int> dims = dims_operand(value);
  encoder_.emit(op::alloc_view{.dst = reg, .of = of, .dtype = value.dtype, .dims = dims});
}

// Allocates the register of a value that a step writes. If several steps write the value, the first
// one allocates it.
void CodeEmitter::make_result(ValueId id) {
  const Value& value = function_.values[id];
  if (value.origin == ValueOrigin::kPart) return make_part(id);
  if (registers_[id]) return;
  if (is_output_[id] || value.storage != ValueStorage::kPlanned)
    return make_own_storage(id, own_pool(id));
  registers_[id] = take_register();
  const BufferIndex buffer = *plan_.liveness.buffer_of_value[id];
  emit_tensor(*registers_[id], arena_of(buffer), plan_.offsets[buffer], value);
}

PoolIndex CodeEmitter::own_pool(ValueId id) const {
  const Value& value = function_.values[id];
  return is_output_[id] ? result_pool(machine_, value) : value.place.pool;
}

void CodeEmitter::make_own_storage(ValueId id, PoolIndex pool) {
  const Value& value = function_.values[id];
  auto next = [&] { return is_output_[id] ? new_register() : take_register(); };
  storages_[id] = next();
  registers_[id] = next();
  // A dynamically sized accumulator starts empty. finish_accumulators() makes its tensor after the
  // loop.
  const bool is_dynamic = value.storage == ValueStorage::kDynamic;
  emit_storage(*storages_[id], pool, is_dynamic ? Int::immediate(0) : int_operand(value.bytes()));
  if (!is_dynamic) emit_tensor(*registers_[id], *storages_[id], shapes_.constant(0), value);
}

// Makes the tensor of a part. Each step that uses the part makes it again, because its offset may
// change. Moreover, an earlier use may be in a branch or loop that is not executed.
void CodeEmitter::make_part(ValueId id) {
  const Value& value = function_.values[id];
  const ValueId root = root_of(function_, id);
  DimExpr offset = value.offset;
  for (ValueId of = *value.view_of; of != root; of = *function_.values[of].view_of)
    offset = offset + function_.values[of].offset;
  if (registers_[id]) return;
  registers_[id] = take_register();
  parts_.push_back(id);
  const ValueIndex begin = shapes_.value(offset);
  if (!storages_[root]) {
    const BufferIndex buffer = *plan_.liveness.buffer_of_value[root];
    return emit_tensor(*registers_[id], arena_of(buffer), shapes_.add(begin, plan_.offsets[buffer]),
                       value);
  }
  if (function_.values[root].storage == ValueStorage::kDynamic)
    encoder_.emit(op::grow_storage{.storage = *storages_[root],
                                   .from = own_pool(root),
                                   .used = int_operand(offset),
                                   .needed = int_operand(offset + value.bytes())});
  emit_tensor(*registers_[id], *storages_[root], begin, value);
}

// --- Steps. -------------------------------------------------------------------------------------

void CodeEmitter::emit_step(const Step& step, int64_t index) {
  if (step.is<step::Launch, step::Copy, step::StringWork>())
    emit_kernel_step(step, index);
  else
    emit_control(step, index);
  release_parts();
}

void CodeEmitter::release_parts() {
  for (ValueId part : parts_)
    free_register(registers_[part], holds_reference(root_of(function_, part)));
  parts_.clear();
}

std::vector<RegisterIndex> CodeEmitter::emit_temporaries(int64_t index) {
  std::vector<RegisterIndex> temporaries;
  for (BufferIndex buffer : plan_.liveness.buffer_of_temporary[index]) {
    const RegisterIndex reg = take_register();
    const Int bytes = int_operand(plan_.liveness.buffers[buffer].bytes);
    emit_tensor(reg, arena_of(buffer), plan_.offsets[buffer], bytes, DType::kU8, {bytes});
    temporaries.push_back(reg);
  }
  return temporaries;
}

void CodeEmitter::emit_kernel_step(const Step& step, int64_t index) {
  const auto* launch = step.as<step::Launch>();
  const bool is_external = launch && module_.kernels[launch->kernel.value].external.has_value();
  std::vector<RegisterIndex> buffers;
  for (ValueId operand : step.operands)
    // The verifier compares the ranks of an external function's operands with their registers.
    buffers.push_back(is_external ? with_own_dims(operand) : register_of(operand));
  for (ValueId result : step.results) {
    make_result(result);
    buffers.push_back(*registers_[result]);
  }
  const std::vector<RegisterIndex> temporaries = emit_temporaries(index);
  buffers.insert(buffers.end(), temporaries.begin(), temporaries.end());
  // No operand needs another instruction, so the next word begins the instruction of the step.
  code_.sources.push_back({encoder_.size(), step.name});
  if (step.is<step::Copy>())
    emit_copy(step.results[0], step.operands[0]);
  else if (const auto* work = step.as<step::StringWork>())
    emit_string_work(*work, buffers);
  else
    emit_launch(step, index, buffers);
  release_views();
  for (size_t t = 0; t < temporaries.size(); ++t) {
    const BufferIndex buffer = plan_.liveness.buffer_of_temporary[index][t];
    std::optional<RegisterIndex> reg = temporaries[t];
    free_register(reg, plan_.liveness.buffers[buffer].segment != kEntry);
  }
}

// `buffers`: the operands, then the result.
void CodeEmitter::emit_string_work(const step::StringWork& work,
                                   const std::vector<RegisterIndex>& buffers) {
  using Kind = step::StringWork::Kind;
  const RegisterIndex from = buffers.front(), other = buffers[1], to = buffers.back();
  const Kind kind = work.kind;
  if (kind == Kind::kParse)
    encoder_.emit(op::string_to_number{.to = to, .from = from});
  else if (kind == Kind::kFormat)
    encoder_.emit(op::number_to_string{.to = to, .from = from});
  else if (kind == Kind::kConcat)
    encoder_.emit(op::concat_strings{.to = to, .a = from, .b = other});
  else if (kind == Kind::kMatch)
    encoder_.emit(op::match_strings{.to = to, .from = from, .automaton = other});
  else if (kind == Kind::kLower || kind == Kind::kUpper)
    encoder_.emit(op::change_case{
        .to = to, .from = from, .upper = Int::immediate(kind == Kind::kUpper ? 1 : 0)});
  else
    emit_split(work, from, other, to);
}

void CodeEmitter::emit_split(const step::StringWork& work, RegisterIndex from,
                             RegisterIndex delimiter, RegisterIndex to) {
  const Int most = int_operand(shapes_.constant(work.max_splits));
  if (work.kind == step::StringWork::Kind::kSplit)
    encoder_.emit(
        op::split_strings{.to = to, .from = from, .delimiter = delimiter, .max_splits = most});
  else
    encoder_.emit(
        op::count_pieces{.to = to, .from = from, .delimiter = delimiter, .max_splits = most});
}

void CodeEmitter::emit_copy(ValueId to, ValueId from) {
  auto pool_of = [&](ValueId id) {
    const ValueId root = root_of(function_, id);
    const Value& value = function_.values[root];
    if (storages_[root]) return own_pool(root);
    // An input is in the pool that the function declares for the parameter.
    return value.origin == ValueOrigin::kInput ? result_pool(machine_, value) : value.place.pool;
  };
  const RegisterIndex source = register_of(from);
  encoder_.emit(op::device_copy{
      .to = *registers_[to], .to_pool = pool_of(to), .from = source, .from_pool = pool_of(from)});
}

void CodeEmitter::emit_launch(const Step& step, int64_t index,
                              const std::vector<RegisterIndex>& buffers) {
  const auto& launch = *step.as<step::Launch>();
  std::vector<ValueIndex> params;
  for (DimExpr param : launch.params) params.push_back(shapes_.value(param));
  format::LaunchDecl decl{
      .kernel = launch.kernel.value,
      // A kernel reads its parameters from consecutive slots.
      .params = params.empty() ? shapes_.first_slot() : shapes_.block_of(params),
      .grid = int_operand(launch.grid),
      .grain = int_operand(launch.grain),
      .bytes = {},
      .read_only = static_cast<uint32_t>(step.operands.size()),
      .shape_function = static_cast<int32_t>(in_effect_.value)};
  for (const std::vector<ValueId>& values : {step.operands, step.results})
    for (ValueId id : values) decl.bytes.push_back(int_operand(function_.values[id].bytes()));
  for (BufferIndex buffer : plan_.liveness.buffer_of_temporary[index])
    decl.bytes.push_back(int_operand(plan_.liveness.buffers[buffer].bytes));
  const isa::LaunchIndex entry{static_cast<uint32_t>(module_.launches.size())};
  if (!launch.flops.is_constant(0))
    code_.flops.push_back({.word = encoder_.size(), .formula = launch.flops.str()});
  if (module_.kernels[launch.kernel.value].external)
    encoder_.emit(op::call_extern{.entry = entry, .buffers = buffers});
  else
    encoder_.emit(op::launch{.entry = entry, .buffers = buffers});
  module_.launches.push_back(std::move(decl));
}

void CodeEmitter::emit_return() {
  std::vector<RegisterIndex> results;
  for (ValueId output : function_.outputs) {
    const Value& value = function_.values[output];
    RegisterIndex reg = register_of(output);
    // A view shares the register of its source, which has the dims of the source. The caller needs
    // the dims of the view.
    if (value.origin == ValueOrigin::kView && !value.is_list()) {
      const RegisterIndex view = new_register();
      emit_view(view, reg, value);
      reg = view;
    }
    results.push_back(reg);
    // The size of a list is known only at run time; its entry is 0.
    DimExpr bytes = value.is_list() ? DimExpr(0) : value.bytes();
    code_.result_bytes_slots.push_back(shapes_.slot_of(shapes_.value(bytes)));
  }
  encoder_.emit(op::ret{.values = results});
}

Result<Code> emit_code(const Machine& machine, const Function& function, PlannedFunction& planned,
                       format::ModuleContents& module) {
  return CodeEmitter(machine, function, planned, module).run();
}

}  // namespace scopevm::compiler::bytecode
