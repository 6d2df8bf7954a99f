// Values in registers, and launches: see code_emitter.h.
#include <algorithm>
#include <utility>

#include "compiler/bytecode/code_emitter.h"

namespace scopevm::compiler::bytecode {
namespace {

using isa::Int;
using isa::RegisterIndex;
namespace op = isa::op;

// The step at which an arena may go: the last one that uses it, or the end of the branch or loop
// around that, if the arena's stage began outside.
int64_t end_of_arena(const Function& function, const memory::Plan& plan,
                     const memory::Arena& arena) {
  int64_t last = -1;
  for (int buffer : arena.buffers) last = std::max(last, plan.liveness.buffers[buffer].upper - 1);
  const auto begin =
      std::ranges::find(function.steps, arena.stage, &Step::stage) - function.steps.begin();
  int depth = 0;  // of marks since the stage began
  for (auto at = static_cast<int64_t>(begin) + 1;; ++at) {
    StepKind kind = function.steps[at].kind;
    if (kind == StepKind::kEndIf || kind == StepKind::kEndLoop) --depth;
    if (depth < 0 || (depth == 0 && kind == StepKind::kElse)) return at - 1;
    if (kind == StepKind::kIf || kind == StepKind::kLoop) ++depth;
    bool is_last = at + 1 == static_cast<int64_t>(function.steps.size());
    if (is_last || (depth == 0 && at >= last)) return at;
  }
}

}  // namespace

CodeEmitter::CodeEmitter(const Machine& machine, const Function& function, PlannedFunction& planned,
                         uint32_t shape_functions, std::vector<std::string>& messages)
    : machine_(machine),
      function_(function),
      shapes_(planned.shapes),
      plan_(planned.plan),
      shape_functions_(shape_functions),
      messages_(messages),
      outputs_(memory::output_of_root(function)),
      dying_(function.steps.size()),
      ending_(function.steps.size()),
      registers_(function.values.size(), kNone),
      storages_(function.values.size(), kNone),
      arenas_(planned.plan.arenas.size(), kNone) {
  const std::vector<int64_t> last_uses = memory::last_uses(function);
  const std::vector<int64_t> releases = memory::release_steps(function);
  for (size_t id = 0; id < function.values.size(); ++id) {
    const auto root = static_cast<ValueId>(id);
    const int64_t last = holds_reference(root) ? releases[id] : last_uses[id];
    if (last >= 0 && last < static_cast<int64_t>(function.steps.size()))
      dying_[last].push_back(root);
  }
  for (size_t step = 0; step < function.steps.size(); ++step)
    for (ValueId result : function.steps[step].results)  // made for nobody
      if (last_uses[memory::root_of(function, result)] < 0) dying_[step].push_back(result);
  for (size_t arena = 0; arena < plan_.arenas.size(); ++arena)
    if (plan_.arenas[arena].stage > 0)
      ending_[end_of_arena(function, plan_, plan_.arenas[arena])].push_back(
          static_cast<int>(arena));
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

// An operand of type int: an immediate when it is a small constant, else a slot.
Int CodeEmitter::int_operand(ValueIndex value) {
  std::optional<int64_t> constant = shapes_.constant_of(value);
  if (constant && *constant >= 0 && *constant <= Int::kMaxImmediate)
    return Int::immediate(*constant);
  return Int::slot({shapes_.slot_of(value)});
}

std::vector<Int> CodeEmitter::dims_operand(const Value& value) {
  std::vector<Int> dims;
  for (DimExpr dim : value.shape) dims.push_back(int_operand(dim));
  return dims;
}

// --- Registers. ---------------------------------------------------------------------------------

uint32_t CodeEmitter::take_register() {
  if (free_.empty()) return register_count_++;
  uint32_t reg = free_.back();
  free_.pop_back();
  return reg;
}

ValueId CodeEmitter::shown_in(ValueId id) const {
  while (function_.values[id].origin == ValueOrigin::kView) id = function_.values[id].view_of;
  return id;
}

uint32_t CodeEmitter::register_of(ValueId id) {
  ValueId shown = shown_in(id);
  const Value& value = function_.values[shown];
  if (registers_[shown] == kNone && value.origin == ValueOrigin::kConstant) {
    registers_[shown] = take_register();
    encoder_.emit(op::load_const{.dst = {registers_[shown]},
                                 .constant = {static_cast<uint32_t>(value.constant)}});
  }
  if (registers_[shown] == kNone && value.origin == ValueOrigin::kPart) make_part(shown);
  return registers_[shown];
}

// True when the value's register keeps a storage alive that can go before the call ends.
bool CodeEmitter::holds_reference(ValueId root) const {
  const Value& value = function_.values[root];
  if (value.storage != ValueStorage::kPlanned) return true;
  int buffer = plan_.liveness.buffer_of_value[root];
  return buffer >= 0 && plan_.liveness.buffers[buffer].stage > 0;
}

void CodeEmitter::give_back(ValueId id) {
  if (outputs_[memory::root_of(function_, id)] >= 0 ||
      function_.values[id].origin == ValueOrigin::kInput || registers_[id] == kNone)
    return;
  if (holds_reference(memory::root_of(function_, id)))
    encoder_.emit(op::kill{.value = {registers_[id]}});
  if (storages_[id] != kNone) {
    encoder_.emit(op::kill{.value = {storages_[id]}});
    free_.push_back(std::exchange(storages_[id], kNone));
  }
  free_.push_back(std::exchange(registers_[id], kNone));
}

// Gives back the registers of what step `at` used last, and the storages of arenas.
void CodeEmitter::release_dead(int64_t at) {
  for (ValueId root : dying_[at]) give_back(root);
  for (int arena : ending_[at])
    if (arenas_[arena] != kNone) {
      encoder_.emit(op::kill{.value = {arenas_[arena]}});
      free_.push_back(std::exchange(arenas_[arena], kNone));
    }
}

// --- Storages and tensors. ----------------------------------------------------------------------

void CodeEmitter::emit_entry() {
  std::vector<RegisterIndex> inputs;
  for (ValueId input : function_.inputs) {
    registers_[input] = register_count_++;
    if (!function_.values[input].is_list()) inputs.push_back({registers_[input]});
  }
  encoder_.emit(op::shape_function{.function = {shape_functions_}, .inputs = inputs});
  emit_arenas(0);
}

// The storages of what the stage plans, one in each pool.
void CodeEmitter::emit_arenas(int stage) {
  for (size_t i = 0; i < plan_.arenas.size(); ++i) {
    const memory::Arena& arena = plan_.arenas[i];
    if (arena.stage != stage) continue;
    if (arenas_[i] == kNone) arenas_[i] = take_register();
    emit_storage(arenas_[i], static_cast<uint32_t>(arena.pool), int_operand(arena.height));
  }
}

void CodeEmitter::emit_storage(uint32_t reg, uint32_t pool, Int bytes) {
  encoder_.emit(op::alloc_storage{.dst = {reg}, .from = {pool}, .size = bytes});
}

void CodeEmitter::emit_tensor(uint32_t reg, uint32_t storage, ValueIndex offset, Int bytes,
                              DType dtype, const std::vector<Int>& dims) {
  encoder_.emit(op::alloc_tensor{.dst = {reg},
                                 .storage = {storage},
                                 .offset = int_operand(offset),
                                 .bytes = bytes,
                                 .dtype = dtype,
                                 .dims = dims});
}

void CodeEmitter::emit_tensor(uint32_t reg, uint32_t storage, ValueIndex offset,
                              const Value& value) {
  Int bytes = int_operand(value.bytes());
  emit_tensor(reg, storage, offset, bytes, value.dtype, dims_operand(value));
}

// The bytes of register `of` under the value's dims.
void CodeEmitter::emit_view(uint32_t reg, uint32_t of, const Value& value) {
  std::vector<Int> dims = dims_operand(value);
  encoder_.emit(op::alloc_view{.dst = {reg}, .of = {of}, .dtype = value.dtype, .dims = dims});
}

// The register of a value that a step writes. A value that several steps write is made by the
// first.
void CodeEmitter::make_result(ValueId id) {
  const Value& value = function_.values[id];
  if (value.origin == ValueOrigin::kPart) return make_part(id);
  if (registers_[id] != kNone) return;
  if (outputs_[id] >= 0 || value.storage != ValueStorage::kPlanned)
    return make_own_storage(id, own_pool(id));
  registers_[id] = take_register();
  int buffer = plan_.liveness.buffer_of_value[id];
  emit_tensor(registers_[id], arena_of(buffer), plan_.offsets[buffer], value);
}

uint32_t CodeEmitter::own_pool(ValueId id) const {
  const Value& value = function_.values[id];
  return static_cast<uint32_t>(outputs_[id] >= 0 ? memory::result_pool(machine_, value)
                                                 : value.place.pool);
}

void CodeEmitter::make_own_storage(ValueId id, uint32_t pool) {
  const Value& value = function_.values[id];
  bool is_output = outputs_[id] >= 0;
  auto next = [&] { return is_output ? register_count_++ : take_register(); };
  storages_[id] = next();
  registers_[id] = next();
  bool is_growing = value.storage == ValueStorage::kGrowing;
  emit_storage(storages_[id], pool, is_growing ? Int::immediate(0) : int_operand(value.bytes()));
  if (!is_growing) emit_tensor(registers_[id], storages_[id], shapes_.constant(0), value);
}

// A part is made anew for each step that uses it: its offset may change, and its first use may lie
// in a branch or an iteration that does not run.
void CodeEmitter::make_part(ValueId id) {
  const Value& value = function_.values[id];
  ValueId root = memory::root_of(function_, id);
  DimExpr offset = value.offset;
  for (ValueId of = value.view_of; of != root; of = function_.values[of].view_of)
    offset = offset + function_.values[of].offset;
  if (registers_[id] != kNone) return;
  registers_[id] = take_register();
  parts_.push_back(id);
  ValueIndex begin = shapes_.value(offset);
  int buffer = plan_.liveness.buffer_of_value[root];
  uint32_t storage = storages_[root];
  if (storage == kNone) {
    storage = arena_of(buffer);
    begin = shapes_.add(begin, plan_.offsets[buffer]);
  } else if (function_.values[root].storage == ValueStorage::kGrowing) {
    encoder_.emit(op::grow_storage{.storage = {storage},
                                   .from = {own_pool(root)},
                                   .used = int_operand(offset),
                                   .needed = int_operand(offset + value.bytes())});
  }
  emit_tensor(registers_[id], storage, begin, value);
}

// --- Steps. -------------------------------------------------------------------------------------

void CodeEmitter::emit_step(const Step& step, int64_t index) {
  if (step.kind == StepKind::kLaunch || step.kind == StepKind::kCopy ||
      step.kind == StepKind::kText)
    emit_kernel_step(step, index);
  else
    emit_control(step, index);
  release_parts();
}

void CodeEmitter::release_parts() {
  for (ValueId part : parts_) {
    if (holds_reference(memory::root_of(function_, part)))
      encoder_.emit(op::kill{.value = {registers_[part]}});
    free_.push_back(std::exchange(registers_[part], kNone));
  }
  parts_.clear();
}

void CodeEmitter::emit_kernel_step(const Step& step, int64_t index) {
  std::vector<RegisterIndex> buffers;
  for (ValueId operand : step.operands) buffers.push_back({register_of(operand)});
  for (ValueId result : step.results) {
    make_result(result);
    buffers.push_back({registers_[result]});
  }
  std::vector<uint32_t> temporaries;
  for (size_t t = 0; t < step.temporaries.size(); ++t) {
    int buffer = plan_.liveness.buffer_of_temporary[index][t];
    uint32_t reg = take_register();
    Int bytes = int_operand(plan_.liveness.buffers[buffer].bytes);
    emit_tensor(reg, arena_of(buffer), plan_.offsets[buffer], bytes, DType::kU8, {bytes});
    temporaries.push_back(reg);
    buffers.push_back({reg});
  }
  code_.sources.push_back({encoder_.size(), step.name});
  if (step.kind == StepKind::kCopy)
    emit_copy(step.results[0], step.operands[0]);
  else if (step.kind == StepKind::kText)
    emit_text(step.text, {registers_[step.results[0]]}, {register_of(step.operands[0])});
  else
    emit_launch(step, buffers);
  for (size_t t = 0; t < temporaries.size(); ++t) {
    int buffer = plan_.liveness.buffer_of_temporary[index][t];
    if (plan_.liveness.buffers[buffer].stage > 0)
      encoder_.emit(op::kill{.value = {temporaries[t]}});
    free_.push_back(temporaries[t]);
  }
}

void CodeEmitter::emit_text(TextWork work, RegisterIndex to, RegisterIndex from) {
  const Int upper = Int::immediate(work == TextWork::kUpper ? 1 : 0);
  if (work == TextWork::kParse)
    encoder_.emit(op::parse_text{.to = to, .from = from});
  else if (work == TextWork::kFormat)
    encoder_.emit(op::format_text{.to = to, .from = from});
  else
    encoder_.emit(op::change_case{.to = to, .from = from, .upper = upper});
}

void CodeEmitter::emit_copy(ValueId to, ValueId from) {
  auto pool_of = [&](ValueId id) {
    const ValueId root = memory::root_of(function_, id);
    const Value& value = function_.values[root];
    if (storages_[root] != kNone) return isa::PoolIndex{own_pool(root)};
    // A caller's tensor lies where the function says that its parameter does.
    return isa::PoolIndex{static_cast<uint32_t>(value.origin == ValueOrigin::kInput
                                                    ? memory::result_pool(machine_, value)
                                                    : value.place.pool)};
  };
  const RegisterIndex source = {register_of(from)};
  encoder_.emit(op::device_copy{
      .to = {registers_[to]}, .to_pool = pool_of(to), .from = source, .from_pool = pool_of(from)});
}

void CodeEmitter::emit_launch(const Step& step, const std::vector<RegisterIndex>& buffers) {
  std::vector<ValueIndex> params;
  for (DimExpr param : step.params) params.push_back(shapes_.value(param));
  uint32_t block = params.empty() ? 0 : shapes_.block_of(params);
  encoder_.emit(op::launch{.kernel = {static_cast<uint32_t>(step.kernel)},
                           .params = {block},
                           .grid = int_operand(step.grid),
                           .grain = int_operand(step.grain),
                           .buffers = buffers});
}

void CodeEmitter::emit_return() {
  std::vector<RegisterIndex> results;
  for (ValueId output : function_.outputs) {
    const Value& value = function_.values[output];
    uint32_t reg = register_of(output);
    if (value.origin == ValueOrigin::kView && !value.is_list()) {
      uint32_t view = register_count_++;
      emit_view(view, reg, value);
      reg = view;
    }
    results.push_back({reg});
    DimExpr bytes = value.is_list() ? DimExpr(0) : value.bytes();
    code_.result_bytes_slots.push_back(shapes_.slot_of(shapes_.value(bytes)));
  }
  encoder_.emit(op::ret{.values = results});
}

Result<Code> emit_code(const Machine& machine, const Function& function, PlannedFunction& planned,
                       uint32_t shape_functions, std::vector<std::string>& messages) {
  return CodeEmitter(machine, function, planned, shape_functions, messages).run();
}

}  // namespace scopevm::compiler::bytecode
