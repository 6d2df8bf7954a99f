// Lists: see code_emitter.h.
//
// A list that is changed is taken over where nothing reads it any more: then the register that
// changes is its only one, and it is changed where it lies. Else the VM copies it first.
#include <algorithm>
#include <set>

#include "compiler/bytecode/code_emitter.h"

namespace scopevm::compiler::bytecode {

using isa::Int;
using isa::RegisterIndex;
namespace op = isa::op;

void CodeEmitter::emit_list_step(const Step& step, int64_t index) {
  switch (step.kind) {
    case StepKind::kMakeList:
      return emit_make_list(step);
    case StepKind::kListGet:
      return emit_list_get(step);
    case StepKind::kListInsert: {
      RegisterIndex value = with_own_dims(step.operands[1]);
      take_list(step, index);
      RegisterIndex list = {registers_[step.results[0]]};
      if (step.index) {
        Int at = int_operand(*step.index);
        code_.sources.push_back({encoder_.size(), step.name});
        encoder_.emit(
            op::list_insert{.list = list, .from = list_pool(), .element = value, .index = at});
      } else {
        encoder_.emit(op::list_append{.list = list, .from = list_pool(), .element = value});
      }
      return release_views();
    }
    case StepKind::kListErase: {
      take_list(step, index);
      Int at = int_operand(*step.index);
      code_.sources.push_back({encoder_.size(), step.name});
      encoder_.emit(
          op::list_erase{.list = {registers_[step.results[0]]}, .from = list_pool(), .index = at});
      return;
    }
    default:
      return;
  }
}

void CodeEmitter::emit_make_list(const Step& step) {
  const Value& list = function_.values[step.results[0]];
  std::vector<RegisterIndex> elements;
  for (ValueId operand : step.operands) elements.push_back(with_own_dims(operand));
  registers_[step.results[0]] = take_register();
  encoder_.emit(op::make_list{.dst = {registers_[step.results[0]]},
                              .from = list_pool(),
                              .depth = Int::immediate(list_depth(list.kind)),
                              .dtype = list.dtype,
                              .elements = elements});
  release_views();
}

void CodeEmitter::emit_list_get(const Step& step) {
  const Value& result = function_.values[step.results[0]];
  RegisterIndex list = {register_of(step.operands[0])};
  registers_[step.results[0]] = take_register();
  Int at = int_operand(*step.index);
  const size_t rank = result.is_list() ? 0 : result.shape.size();
  code_.sources.push_back({encoder_.size(), step.name});
  encoder_.emit(op::list_get{.dst = {registers_[step.results[0]]},
                             .list = list,
                             .index = at,
                             .rank = Int::immediate(static_cast<int64_t>(rank))});
}

// Lists and callees take a value's dims from its register: a view, which shows in another's, gets
// one of its own until release_views.
RegisterIndex CodeEmitter::with_own_dims(ValueId id) {
  const Value& value = function_.values[id];
  uint32_t reg = register_of(id);
  if (value.origin != ValueOrigin::kView || value.is_list()) return {reg};
  uint32_t view = take_register();
  emit_view(view, reg, value);
  views_.push_back(view);
  return {view};
}

void CodeEmitter::release_views() {
  for (uint32_t view : views_) {
    encoder_.emit(op::kill{.value = {view}});
    free_.push_back(view);
  }
  views_.clear();
}

// The result's register gets the list of operand 0.
void CodeEmitter::take_list(const Step& step, int64_t index) {
  ValueId from = memory::root_of(function_, step.operands[0]);
  uint32_t source = register_of(from);
  bool is_ours = function_.values[from].origin != ValueOrigin::kInput;
  if (is_ours && std::ranges::find(dying_[index], from) != dying_[index].end()) {
    registers_[step.results[0]] = std::exchange(registers_[from], kNone);
    return;
  }
  uint32_t to = registers_[step.results[0]] = take_register();
  emit_move(to, source);
  if (is_ours && is_dead_after(from, index)) encoder_.emit(op::kill{.value = {source}});
}

// The steps that may run right after this one.
std::vector<int64_t> CodeEmitter::steps_after(int64_t at) const {
  auto find = [&](StepKind kind, int64_t match) {
    for (int64_t i = at + 1; i < static_cast<int64_t>(function_.steps.size()); ++i)
      if (function_.steps[i].kind == kind && function_.steps[i].match == match) return i;
    return static_cast<int64_t>(function_.steps.size());
  };
  const Step& step = function_.steps[at];
  switch (step.kind) {
    case StepKind::kIf:
      return {at + 1, find(StepKind::kElse, at) + 1};
    case StepKind::kElse:
      return {find(StepKind::kEndIf, step.match)};
    case StepKind::kLoop:
      return {at + 1, find(StepKind::kEndLoop, at) + 1};
    case StepKind::kEndLoop:
      return {at + 1, int64_t{step.match} + 1};
    default:
      return {at + 1};
  }
}

// True when on every way from the step the value is written again before it is read, if ever.
bool CodeEmitter::is_dead_after(ValueId root, int64_t at) const {
  auto is_among = [&](const std::vector<ValueId>& values) {
    return std::ranges::any_of(values,
                               [&](ValueId id) { return memory::root_of(function_, id) == root; });
  };
  std::set<int64_t> seen;
  std::vector<int64_t> pending = steps_after(at);
  while (!pending.empty()) {
    int64_t step = pending.back();
    pending.pop_back();
    if (!seen.insert(step).second) continue;
    if (step >= static_cast<int64_t>(function_.steps.size())) {
      if (is_among(function_.outputs)) return false;
      continue;
    }
    if (is_among(function_.steps[step].operands)) return false;
    if (is_among(function_.steps[step].results)) continue;
    for (int64_t next : steps_after(step)) pending.push_back(next);
  }
  return true;
}

}  // namespace scopevm::compiler::bytecode
