// Emits operations on lists; see code_emitter.h.
//
// A step that modifies a list takes over the operand's register if the operand has no later use.
// The VM modifies a list in place if the register holds the only reference to it; otherwise it
// copies the list first.
#include <algorithm>
#include <set>

#include "compiler/bytecode/code_emitter.h"

namespace scopevm::compiler::bytecode {

using isa::Int;
using isa::RegisterIndex;
namespace op = isa::op;

void CodeEmitter::emit_list_step(const Step& step, int64_t index) {
  if (step.is<step::MakeList>()) return emit_make_list(step);
  if (const auto* get = step.as<step::ListGet>()) return emit_list_get(step, get->index);
  if (const auto* insert = step.as<step::ListInsert>())
    return emit_list_insert(step, insert->index, index);
  if (const auto* erase = step.as<step::ListErase>())
    return emit_list_erase(step, erase->index, index);
}

void CodeEmitter::emit_make_list(const Step& step) {
  const Value& list = function_.values[step.results[0]];
  std::vector<RegisterIndex> elements;
  for (ValueId operand : step.operands) elements.push_back(with_own_dims(operand));
  const RegisterIndex dst = take_register();
  registers_[step.results[0]] = dst;
  encoder_.emit(op::make_list{.dst = dst,
                              .from = list_pool(),
                              .depth = Int::immediate(list_depth(list.kind)),
                              .dtype = list.dtype,
                              .elements = elements});
  release_views();
}

void CodeEmitter::emit_list_get(const Step& step, DimExpr at) {
  const Value& result = function_.values[step.results[0]];
  const RegisterIndex list = register_of(step.operands[0]);
  const RegisterIndex dst = take_register();
  registers_[step.results[0]] = dst;
  const Int index = int_operand(at);
  const size_t rank = result.is_list() ? 0 : result.shape.size();
  code_.sources.push_back({encoder_.size(), step.name});
  encoder_.emit(op::list_get{.dst = dst,
                             .list = list,
                             .index = index,
                             .rank = Int::immediate(static_cast<int64_t>(rank))});
}

void CodeEmitter::emit_list_insert(const Step& step, const std::optional<DimExpr>& at,
                                   int64_t index) {
  const RegisterIndex value = with_own_dims(step.operands[1]);
  take_list(step, index);
  const RegisterIndex list = *registers_[step.results[0]];
  if (at) {
    const Int position = int_operand(*at);
    code_.sources.push_back({encoder_.size(), step.name});
    encoder_.emit(
        op::list_insert{.list = list, .from = list_pool(), .element = value, .index = position});
  } else {
    encoder_.emit(op::list_append{.list = list, .from = list_pool(), .element = value});
  }
  release_views();
}

void CodeEmitter::emit_list_erase(const Step& step, DimExpr at, int64_t index) {
  take_list(step, index);
  const Int position = int_operand(at);
  code_.sources.push_back({encoder_.size(), step.name});
  encoder_.emit(
      op::list_erase{.list = *registers_[step.results[0]], .from = list_pool(), .index = position});
}

// A register that holds the value with its own dims. List operations and callees read dims from the
// register. A view, which shares the register of another value, therefore gets a separate register
// until release_views() is called.
RegisterIndex CodeEmitter::with_own_dims(ValueId id) {
  const Value& value = function_.values[id];
  const RegisterIndex reg = register_of(id);
  if (value.origin != ValueOrigin::kView || value.is_list()) return reg;
  const RegisterIndex view = take_register();
  emit_view(view, reg, value);
  views_.push_back(view);
  return view;
}

void CodeEmitter::release_views() {
  for (RegisterIndex view : views_) {
    encoder_.emit(op::kill{.value = view});
    free_.push_back(view);
  }
  views_.clear();
}

// Moves or copies the list of operand 0 to the result's register.
void CodeEmitter::take_list(const Step& step, int64_t index) {
  const ValueId from = root_of(function_, step.operands[0]);
  const RegisterIndex source = register_of(from);
  // The caller owns the input lists.
  const bool is_ours = function_.values[from].origin != ValueOrigin::kInput;
  if (is_ours && std::ranges::find(dying_[index], from) != dying_[index].end()) {
    registers_[step.results[0]] = std::exchange(registers_[from], std::nullopt);
    return;
  }
  const RegisterIndex to = take_register();
  registers_[step.results[0]] = to;
  // Both registers reference the list, so the VM copies it when one is modified. The kill below
  // releases one reference if the operand is dead on every path.
  emit_move(to, source);
  if (is_ours && is_dead_after(from, index)) encoder_.emit(op::kill{.value = source});
}

// The possible successors of a step.
std::vector<int64_t> CodeEmitter::steps_after(int64_t at) const {
  // The next step that closes or continues the branch or loop that the step at `begin` opens.
  auto close_of = [&](int64_t begin) {
    auto close = std::find_if(function_.steps.begin() + at + 1, function_.steps.end(),
                              [&](const Step& step) { return step.begin() == begin; });
    return close - function_.steps.begin();
  };
  const Step& step = function_.steps[at];
  if (step.is<step::If>()) return {at + 1, close_of(at) + 1};
  if (const auto* otherwise = step.as<step::Else>()) return {close_of(otherwise->begin)};
  if (step.is<step::Loop>()) return {at + 1, close_of(at) + 1};
  if (const auto* end = step.as<step::EndLoop>()) return {at + 1, end->begin + 1};
  return {at + 1};
}

// True if no path from the step at `at` reads or releases the value before it is written again: a
// value that another path of a branch reads is released after the branch. Searches the control flow
// depth first.
bool CodeEmitter::is_dead_after(ValueId root, int64_t at) const {
  auto is_among = [&](const std::vector<ValueId>& values) {
    return std::ranges::any_of(values, [&](ValueId id) { return root_of(function_, id) == root; });
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
    if (is_among(dying_[step])) return false;
    for (int64_t next : steps_after(step)) pending.push_back(next);
  }
  return true;
}

}  // namespace scopevm::compiler::bytecode
