// Branches, loops, and the stages that begin in them: see code_emitter.h.
//
//   if:    load_element c; branch c        loop:  set_slot i, 0; jump check
//          ... then ...                    body:  load_dim ...; shape_function; ...
//          jump end                               add_slot i, 1; load_element c; branch c
//   else:  ...                             check: branch_less i, trip_count
//   end:                                   end:
#include "compiler/bytecode/code_emitter.h"

namespace scopevm::compiler::bytecode {

using isa::Int;
using isa::RegisterIndex;
namespace op = isa::op;

void CodeEmitter::emit_control(const Step& step, int64_t index) {
  if ((step.kind == StepKind::kIf || step.kind == StepKind::kLoop) && depth_++ == 0)
    load_constants_of_region(index);
  switch (step.kind) {
    case StepKind::kRead:
      return emit_stage(step);
    case StepKind::kIf:
      return begin_if(step, index);
    case StepKind::kElse:
      return begin_else(step);
    case StepKind::kEndIf:
      --depth_;
      encoder_.bind(ifs_.at(step.match).end);
      return emit_stage(step);
    case StepKind::kLoop:
      return begin_loop(step, index);
    case StepKind::kEndLoop:
      --depth_;
      return end_loop(step);
    case StepKind::kAssert:
      return emit_assert(step);
    case StepKind::kCall:
    case StepKind::kMakeClosure:
    case StepKind::kCallClosure:
      return emit_call(step);
    case StepKind::kMove: {
      uint32_t from = register_of(step.operands[0]);
      if (registers_[step.results[0]] == kNone) registers_[step.results[0]] = register_count_++;
      return emit_move(registers_[step.results[0]], from);
    }
    case StepKind::kSwap: {
      uint32_t a = register_of(step.operands[0]), b = register_of(step.operands[1]);
      uint32_t spare = take_register();
      emit_move(spare, a);
      emit_move(a, b);
      emit_move(b, spare);
      encoder_.emit(op::kill{.value = {spare}});
      free_.push_back(spare);
      return;
    }
    default:
      return emit_list_step(step, index);
  }
}

void CodeEmitter::emit_move(uint32_t to, uint32_t from) {
  encoder_.emit(op::move{.dst = {to}, .from = {from}});
}

// What one branch or iteration loads, another may not have: constants are loaded before.
void CodeEmitter::load_constants_of_region(int64_t begin) {
  int depth = 0;
  for (size_t i = static_cast<size_t>(begin); i < function_.steps.size(); ++i) {
    const Step& step = function_.steps[i];
    for (ValueId operand : step.operands)
      if (function_.values[memory::root_of(function_, operand)].origin == ValueOrigin::kConstant)
        register_of(operand);
    if (step.kind == StepKind::kIf || step.kind == StepKind::kLoop) ++depth;
    if ((step.kind == StepKind::kEndIf || step.kind == StepKind::kEndLoop) && --depth == 0) return;
  }
}

// --- Stages. ------------------------------------------------------------------------------------

void CodeEmitter::emit_stage(const Step& step) {
  if (step.stage < 0) return;
  emit_births(step);
  bool has_work =
      !function_.stages[step.stage].births.empty() || !shapes_.conditions_of(step.stage).empty();
  if (!has_work) return;
  code_.sources.push_back({encoder_.size(), step.name});
  op::shape_function code;
  code.function = {shape_functions_ + static_cast<uint32_t>(step.stage)};
  encoder_.emit(code);
  emit_arenas(step.stage);
}

void CodeEmitter::emit_births(const Step& step) {
  const std::vector<Birth>& births = function_.stages[step.stage].births;
  uint32_t last = kNone;
  for (size_t i = 0; i < births.size(); ++i) {
    const Birth& birth = births[i];
    uint32_t slot = shapes_.birth_slot(step.stage, static_cast<int>(i));
    if (slot == last) continue;  // another part of the same value
    last = slot;
    Int index = Int::immediate(birth.index);
    if (birth.source == Birth::Source::kCount) {
      if (step.kind == StepKind::kEndLoop)
        encoder_.emit(
            op::set_slot{.dst = {slot}, .value = Int::slot({loops_.at(step.match).count_slot})});
      continue;
    }
    RegisterIndex of = {register_of(step.operands[birth.operand])};
    if (birth.source == Birth::Source::kSize)
      encoder_.emit(op::list_size{.dst = {slot}, .list = of});
    else if (birth.source == Birth::Source::kElement)
      encoder_.emit(op::load_element{.dst = {slot}, .of = of, .index = index});
    else
      encoder_.emit(op::load_dim{.dst = {slot}, .of = of, .axis = index});
  }
}

// --- Branches. ----------------------------------------------------------------------------------

Int CodeEmitter::condition_slot(ValueId condition) {
  uint32_t slot = shapes_.new_slot();
  encoder_.emit(
      op::load_element{.dst = {slot}, .of = {register_of(condition)}, .index = Int::immediate(0)});
  release_parts();  // here, where both ways from the branch come by
  return Int::slot({slot});
}

void CodeEmitter::emit_assert(const Step& step) {
  isa::Encoder::Label holds = encoder_.new_label(), fails = encoder_.new_label();
  Int condition = condition_slot(step.operands[0]);
  encoder_.emit(op::branch{.condition = condition,
                           .then_to = isa::Encoder::target(holds),
                           .else_to = isa::Encoder::target(fails)});
  encoder_.bind(fails);
  encoder_.emit(op::fail{.text = {static_cast<uint32_t>(messages_.size())}});
  messages_.push_back(step.message);
  encoder_.bind(holds);
}

void CodeEmitter::begin_if(const Step& step, int64_t index) {
  for (ValueId result : step.results) make_result(result);
  OpenIf open{encoder_.new_label(), encoder_.new_label()};
  isa::Encoder::Label then = encoder_.new_label();
  Int condition = condition_slot(step.operands[0]);
  encoder_.emit(op::branch{.condition = condition,
                           .then_to = isa::Encoder::target(then),
                           .else_to = isa::Encoder::target(open.otherwise)});
  encoder_.bind(then);
  ifs_.emplace(index, open);
  emit_stage(step);
}

void CodeEmitter::begin_else(const Step& step) {
  const OpenIf& open = ifs_.at(step.match);
  encoder_.emit(op::jump{.to = isa::Encoder::target(open.end)});
  encoder_.bind(open.otherwise);
  emit_stage(step);
}

// --- Loops. -------------------------------------------------------------------------------------

void CodeEmitter::begin_loop(const Step& step, int64_t index) {
  for (ValueId result : step.results) make_result(result);
  OpenLoop open{encoder_.new_label(), encoder_.new_label(), encoder_.new_label()};
  const std::vector<Birth>& births = function_.stages[step.stage].births;
  open.count_slot = kNone;
  for (size_t i = 0; i < births.size(); ++i)
    if (births[i].source == Birth::Source::kCount)
      open.count_slot = shapes_.birth_slot(step.stage, static_cast<int>(i));
  encoder_.emit(op::set_slot{.dst = {open.count_slot}, .value = Int::immediate(0)});
  encoder_.emit(op::jump{.to = isa::Encoder::target(open.check)});
  encoder_.bind(open.body);
  loops_.emplace(index, open);
  emit_stage(step);
}

void CodeEmitter::end_loop(const Step& step) {
  const OpenLoop& open = loops_.at(step.match);
  const Step& loop = function_.steps[step.match];
  encoder_.emit(op::add_slot{.dst = {open.count_slot}, .by = Int::immediate(1)});
  if (!step.operands.empty() && step.has_condition) {
    Int condition = condition_slot(step.operands[0]);
    encoder_.emit(op::branch{.condition = condition,
                             .then_to = isa::Encoder::target(open.check),
                             .else_to = isa::Encoder::target(open.end)});
  }
  encoder_.bind(open.check);
  encoder_.emit(op::branch_less{.a = Int::slot({open.count_slot}),
                                .b = int_operand(loop.trip_count),
                                .then_to = isa::Encoder::target(open.body),
                                .else_to = isa::Encoder::target(open.end)});
  encoder_.bind(open.end);
  emit_stage(step);
  finish_growing(loop);
}

// What grew is a tensor now that its size is known.
void CodeEmitter::finish_growing(const Step& loop) {
  for (ValueId result : loop.results) {
    const Value& value = function_.values[result];
    if (value.storage == ValueStorage::kGrowing)
      emit_tensor(registers_[result], storages_[result], shapes_.constant(0), value);
  }
}

}  // namespace scopevm::compiler::bytecode
