// Emits calls and closures; see code_emitter.h. A callee reads the dims of an argument from its
// register. A view shares the register of the viewed value, so with_own_dims() makes a separate
// register with the dims of the view.
#include <span>
#include <utility>

#include "compiler/bytecode/code_emitter.h"

namespace scopevm::compiler::bytecode {

using isa::Int;
using isa::RegisterIndex;
namespace op = isa::op;

void CodeEmitter::emit_call(const Step& step) {
  std::vector<RegisterIndex> arguments;
  for (ValueId operand : step.operands) arguments.push_back(with_own_dims(operand));
  for (ValueId result : step.results)
    registers_[result] = is_output_[result] ? new_register() : take_register();
  code_.sources.push_back({encoder_.size(), step.name});
  emit_call_of(step, arguments);
  release_views();
}

void CodeEmitter::emit_call_of(const Step& step, const std::vector<RegisterIndex>& arguments) {
  std::vector<RegisterIndex> results;
  for (ValueId result : step.results) results.push_back(*registers_[result]);
  if (const auto* call = step.as<step::Call>()) {
    encoder_.emit(op::call{.callee = call->callee, .arguments = arguments, .results = results});
    return;
  }
  if (const auto* closure = step.as<step::MakeClosure>()) {
    encoder_.emit(op::make_closure{.dst = results[0],
                                   .from = host_pool("global.workspace"),
                                   .callee = closure->callee,
                                   .captured = arguments});
    return;
  }
  std::vector<Int> types;
  for (ValueId result : step.results) {
    const Value& value = function_.values[result];
    isa::ValueType type{value.dtype, static_cast<uint32_t>(value.shape.size()), value.is_list()};
    types.push_back(Int::immediate(type.word()));
  }
  encoder_.emit(op::call_closure{.closure = arguments[0],
                                 .arguments = std::span(arguments).subspan(1),
                                 .types = types,
                                 .results = results});
}

}  // namespace scopevm::compiler::bytecode
