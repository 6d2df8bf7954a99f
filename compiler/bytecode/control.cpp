// Emits branches, loops, and the segments that begin in them; see code_emitter.h. Below, c is the
// slot of a condition, and i the slot of the number of finished iterations.
//
//   if:    load_element c; branch c        loop:  set_slot i, 0; jump check
//          ... then ...                    body:  load_dim ...; shape_function; ...
//          jump end                               add_slot i, 1; load_element c; branch c
//   else:  ...                             check: branch_less i, trip_count
//   end:                                   end:
#include <algorithm>
#include <utility>

#include "compiler/bytecode/code_emitter.h"

namespace scopevm::compiler::bytecode {

using isa::Int;
using isa::RegisterIndex;
namespace op = isa::op;

void CodeEmitter::emit_control(const Step& step, int64_t index) {
  // Only for the outermost branch or loop: its constants include those of the ones inside it.
  if (step.is<step::If, step::Loop>() && depth_++ == 0) load_constants_of_region(index);
  if (step.is<step::EndIf, step::EndLoop>()) --depth_;
  if (step.is<step::Read>()) return begin_segment(step);
  if (step.is<step::If>()) return begin_if(step, index);
  if (const auto* otherwise = step.as<step::Else>()) return begin_else(step, otherwise->begin);
  if (const auto* end = step.as<step::EndIf>()) {
    encoder_.bind(ifs_.at(end->begin).end);
    in_effect_ = ifs_.at(end->begin).in_effect;
    return begin_segment(step);
  }
  if (step.is<step::Loop>()) return begin_loop(step, index);
  if (const auto* end = step.as<step::EndLoop>()) return end_loop(step, *end, index);
  if (const auto* assertion = step.as<step::Assert>()) return emit_assert(step, assertion->message);
  if (step.is<step::Move>()) return emit_move_step(step);
  if (step.is<step::Swap>()) return emit_swap(step);
  if (step.is<step::Call, step::MakeClosure, step::CallClosure>()) return emit_call(step);
  emit_list_step(step, index);
}

void CodeEmitter::emit_move_step(const Step& step) {
  const RegisterIndex from = register_of(step.operands[0]);
  std::optional<RegisterIndex>& to = registers_[step.results[0]];
  if (!to) to = new_register();
  emit_move(*to, from);
}

void CodeEmitter::emit_swap(const Step& step) {
  const RegisterIndex a = register_of(step.operands[0]), b = register_of(step.operands[1]);
  const RegisterIndex spare = take_register();
  emit_move(spare, a);
  emit_move(a, b);
  emit_move(b, spare);
  // The spare register must not keep a reference to a storage.
  encoder_.emit(op::kill{.value = spare});
  free_.push_back(spare);
}

void CodeEmitter::emit_move(RegisterIndex to, RegisterIndex from) {
  encoder_.emit(op::move{.dst = to, .from = from});
}

// Loads the constants of a branch or loop before it. A constant that is loaded inside would not be
// loaded on other paths.
void CodeEmitter::load_constants_of_region(int64_t begin) {
  int depth = 0;
  for (size_t i = static_cast<size_t>(begin); i < function_.steps.size(); ++i) {
    const Step& step = function_.steps[i];
    for (ValueId operand : step.operands)
      if (function_.values[root_of(function_, operand)].origin == ValueOrigin::kConstant)
        register_of(operand);
    if (step.is<step::If, step::Loop>()) ++depth;
    if (step.is<step::EndIf, step::EndLoop>() && --depth == 0) return;
  }
}

// --- Segments. ----------------------------------------------------------------------------------

void CodeEmitter::begin_segment(const Step& step) {
  if (!step.segment) return;
  const SegmentIndex segment = *step.segment;
  // A segment without checks whose symbols are unused has no slots to compute and no arenas. It can
  // be the segment of a loop whose sizes are loop-invariant.
  const bool has_work = std::ranges::any_of(function_.segments[segment].symbols,
                                            [&](const RuntimeSymbol& symbol) {
                                              return used_symbols_.contains(symbol.symbol);
                                            }) ||
                        !shapes_.conditions_of(segment).empty();
  if (!has_work) return;
  emit_symbols(step);
  code_.sources.push_back({encoder_.size(), step.name});
  op::shape_function code;
  code.function = {first_shape_function_.value + segment.value};
  encoder_.emit(code);
  code_.follows[segment] = std::exchange(in_effect_, code.function);
  emit_arenas(segment);
}

// Emits instructions that store the values of the segment's symbols in their slots.
void CodeEmitter::emit_symbols(const Step& step) {
  const std::vector<RuntimeSymbol>& symbols = function_.segments[*step.segment].symbols;
  const std::vector<SlotIndex>& slots = shapes_.symbol_slots(*step.segment);
  std::optional<SlotIndex> last;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const RuntimeSymbol& symbol = symbols[i];
    const SlotIndex slot = slots[i];
    if (slot == last) continue;  // the previous symbol is derived from the same value
    last = slot;
    const Int index = Int::immediate(symbol.index);
    if (symbol.source == RuntimeSymbol::Source::kCount) {
      if (const auto* end = step.as<step::EndLoop>())
        encoder_.emit(
            op::set_slot{.dst = slot, .value = Int::slot(loops_.at(end->begin).count_slot)});
      continue;
    }
    const RegisterIndex of = register_of(step.operands[symbol.operand]);
    if (symbol.source == RuntimeSymbol::Source::kSize)
      encoder_.emit(op::list_size{.dst = slot, .list = of});
    else if (symbol.source == RuntimeSymbol::Source::kElement)
      encoder_.emit(op::load_element{.dst = slot, .of = of, .index = index});
    else
      encoder_.emit(op::load_dim{.dst = slot, .of = of, .axis = index});
  }
}

// --- Branches. ----------------------------------------------------------------------------------

Int CodeEmitter::condition_slot(ValueId condition) {
  const SlotIndex slot = shapes_.condition_slot();
  encoder_.emit(
      op::load_element{.dst = slot, .of = register_of(condition), .index = Int::immediate(0)});
  release_parts();  // before the branch, so that the parts are released on both paths
  return Int::slot(slot);
}

void CodeEmitter::emit_assert(const Step& step, const std::string& message) {
  isa::Encoder::Label holds = encoder_.new_label(), fails = encoder_.new_label();
  Int condition = condition_slot(step.operands[0]);
  encoder_.emit(op::branch{.condition = condition,
                           .then_to = isa::Encoder::target(holds),
                           .else_to = isa::Encoder::target(fails)});
  encoder_.bind(fails);
  encoder_.emit(op::fail{.text = {static_cast<uint32_t>(module_.messages.size())}});
  module_.messages.push_back(message);
  encoder_.bind(holds);
}

void CodeEmitter::begin_if(const Step& step, int64_t index) {
  for (ValueId result : step.results) make_result(result);
  OpenIf open{encoder_.new_label(), encoder_.new_label(), in_effect_};
  isa::Encoder::Label then = encoder_.new_label();
  Int condition = condition_slot(step.operands[0]);
  encoder_.emit(op::branch{.condition = condition,
                           .then_to = isa::Encoder::target(then),
                           .else_to = isa::Encoder::target(open.otherwise)});
  encoder_.bind(then);
  // Else and EndIf find the labels by the position of the If.
  ifs_.emplace(index, open);
  begin_segment(step);
}

void CodeEmitter::begin_else(const Step& step, int64_t begin) {
  const OpenIf& open = ifs_.at(begin);
  encoder_.emit(op::jump{.to = isa::Encoder::target(open.end)});
  encoder_.bind(open.otherwise);
  in_effect_ = open.in_effect;
  begin_segment(step);
}

// --- Loops. -------------------------------------------------------------------------------------

void CodeEmitter::begin_loop(const Step& step, int64_t index) {
  for (ValueId result : step.results) make_result(result);
  OpenLoop open{encoder_.new_label(), encoder_.new_label(), encoder_.new_label(), {}, in_effect_};
  const std::vector<RuntimeSymbol>& symbols = function_.segments[*step.segment].symbols;
  for (size_t i = 0; i < symbols.size(); ++i)
    if (symbols[i].source == RuntimeSymbol::Source::kCount)
      open.count_slot = shapes_.symbol_slots(*step.segment)[i];
  encoder_.emit(op::set_slot{.dst = open.count_slot, .value = Int::immediate(0)});
  // The trip count is checked at the end of the loop, so that an iteration needs only one branch
  // for it.
  encoder_.emit(op::jump{.to = isa::Encoder::target(open.check)});
  encoder_.bind(open.body);
  loops_.emplace(index, open);
  begin_segment(step);
}

// Releases a condition that the body computes. The release precedes the branch, because the code
// after the loop also runs if the body was never executed.
void CodeEmitter::release_condition(ValueId condition, int64_t begin, int64_t end) {
  const ValueId root = root_of(function_, condition);
  const bool is_of_body = std::any_of(
      function_.steps.begin() + begin + 1, function_.steps.begin() + end, [&](const Step& step) {
        return std::ranges::find(step.results, root) != step.results.end();
      });
  if (!is_of_body || std::erase(dying_[end], root) == 0) return;
  release(root);
}

void CodeEmitter::end_loop(const Step& step, const step::EndLoop& end, int64_t index) {
  const OpenLoop& open = loops_.at(end.begin);
  const Step& loop = function_.steps[end.begin];
  // Incremented before the condition is tested, so that the count is correct at both exits of the
  // loop.
  encoder_.emit(op::add_slot{.dst = open.count_slot, .by = Int::immediate(1)});
  if (end.has_condition) {
    Int condition = condition_slot(step.operands[0]);
    release_condition(step.operands[0], end.begin, index);
    encoder_.emit(op::branch{.condition = condition,
                             .then_to = isa::Encoder::target(open.check),
                             .else_to = isa::Encoder::target(open.end)});
  }
  encoder_.bind(open.check);
  encoder_.emit(op::branch_less{.a = Int::slot(open.count_slot),
                                .b = int_operand(loop.as<step::Loop>()->trip_count),
                                .then_to = isa::Encoder::target(open.body),
                                .else_to = isa::Encoder::target(open.end)});
  encoder_.bind(open.end);
  in_effect_ = open.in_effect;
  begin_segment(step);
  finish_accumulators(loop);
}

// Makes the tensors of the dynamically sized accumulators of a loop. Their sizes are known after
// it.
void CodeEmitter::finish_accumulators(const Step& loop) {
  for (ValueId result : loop.results) {
    const Value& value = function_.values[result];
    if (value.storage == ValueStorage::kDynamic)
      emit_tensor(*registers_[result], *storages_[result], shapes_.constant(0), value);
  }
}

}  // namespace scopevm::compiler::bytecode
