// Calls: see code_emitter.h. The callee reads the dims of its arguments from their registers, so a
// value that shows in another's register is passed as a view of its own.
#include <utility>

#include "compiler/bytecode/code_emitter.h"

namespace scopevm::bytecode {

using isa::RegisterIndex;
namespace op = isa::op;

void CodeEmitter::emit_call(const Step& step) {
  std::vector<RegisterIndex> arguments, results;
  std::vector<uint32_t> views;
  for (ValueId operand : step.operands) {
    const Value& value = function_.values[operand];
    uint32_t reg = register_of(operand);
    if (value.origin == ValueOrigin::kView) {
      emit_view(views.emplace_back(take_register()), reg, value);
      reg = views.back();
    }
    arguments.push_back({reg});
  }
  for (ValueId result : step.results) {
    registers_[result] = outputs_[result] >= 0 ? register_count_++ : take_register();
    results.push_back({registers_[result]});
  }
  code_.sources.push_back({encoder_.size(), step.name});
  encoder_.emit(op::call{
      .callee = {static_cast<uint32_t>(step.callee)}, .arguments = arguments, .results = results});
  for (uint32_t view : views) {
    encoder_.emit(op::kill{.value = {view}});
    free_.push_back(view);
  }
}

}  // namespace scopevm::bytecode
