// Closures. A closure is a list of the values of a function's first parameters, with the index of
// the function.
#include "vm/run/interpreter/interpreter_class.h"

#include <cstring>

namespace scopevm::vm {

using runtime::ScopeMemory;
using runtime::Storage;
namespace op = isa::op;
using isa::RegisterIndex;

// The verifier ensures that the register holds a closure; its function is known only at run time.
bool Interpreter::check_closure(const op::call_closure& in, const List& closure) {
  const format::FunctionDecl& callee =
      *session_.module().function(static_cast<uint32_t>(closure.function())).decl;
  const auto kept = static_cast<size_t>(closure.size());
  bool fits = kept + in.arguments.size() == callee.inputs.size() &&
              in.types.size() == callee.outputs.size();
  for (uint32_t i = 0; fits && i < in.arguments.size(); ++i) {
    const format::TensorDecl& parameter = callee.inputs[kept + i];
    const Register& given = reg(in.arguments[i]);
    const bool is_closure = given.storage != nullptr && given.storage->is_list;
    fits = is_closure ? parameter.kind == ValueKind::kClosure
                      : parameter.kind == ValueKind::kTensor && parameter.dtype == given.dtype &&
                            parameter.dims.size() == given.rank;
  }
  for (uint32_t i = 0; fits && i < in.types.size(); ++i) {
    const format::TensorDecl& result = callee.outputs[i];
    const isa::ValueType type = isa::ValueType::from_word(in.types[i].bits);
    fits = type.is_closure ? result.kind == ValueKind::kClosure
                           : result.kind == ValueKind::kTensor && result.dtype == type.dtype &&
                                 result.dims.size() == type.rank;
  }
  return fits || fail(StatusCode::kInvalidModel,
                      "the arguments or results of the call do not match the signature of \"" +
                          callee.name + "\"");
}

bool Interpreter::execute(const op::call_closure& in) {
  const Frame caller = frame_;
  const List closure(reg(in.closure).storage);
  if (!check_closure(in, closure)) return false;
  const LoadedFunction& callee =
      session_.module().function(static_cast<uint32_t>(closure.function()));
  const auto kept = static_cast<uint32_t>(closure.size());
  for (uint32_t i = 0; i < kept; ++i)
    if (!check_argument(callee, i, closure.element(i))) return false;
  for (uint32_t i = 0; i < in.arguments.size(); ++i)
    if (!check_argument(callee, kept + i, reg(in.arguments[i]))) return false;
  if (!push_call(static_cast<uint32_t>(closure.function()), in.results)) return false;
  for (uint32_t i = 0; i < kept; ++i)
    // The caller's register keeps the closure alive during the call.
    pass(i, closure.element(i), closure.dims_of(i));
  for (uint32_t i = 0; i < in.arguments.size(); ++i) {
    const uint32_t from = in.arguments[i].value;
    pass(kept + i, caller.registers[from], caller.dims_of(from));
  }
  return true;
}

bool Interpreter::execute(const op::make_closure& in) {
  uint8_t max_rank = 0;
  for (uint32_t i = 0; i < in.captured.size(); ++i)
    max_rank = std::max(max_rank, reg(in.captured[i]).rank);
  Storage* storage = nullptr;
  if (!allocate_list(in.from.value, in.captured.size(), max_rank, &storage)) return false;
  List closure(storage);
  closure.set_function(in.callee.value);
  for (uint32_t i = 0; i < in.captured.size(); ++i)
    closure.insert(i, reg(in.captured[i]), dims(in.captured[i]));
  set(in.dst, list_register(storage));
  return true;
}

}  // namespace scopevm::vm
