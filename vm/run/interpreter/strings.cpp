// String inputs and string opcodes. Registers hold string ids; the call's StringTable has the
// strings.
#include "vm/run/interpreter/interpreter_class.h"

#include <cstring>

#include "vm/run/call/string_ops.h"
#include "vm/run/ranks/remote_memory.h"

namespace scopevm::vm {

using runtime::ScopeMemory;
using runtime::Storage;
namespace op = isa::op;
using isa::RegisterIndex;

// Interns string inputs once, before the entry function starts.
Status Interpreter::intern_inputs() {
  // The ids do not depend on the variant, so a fallback to main reuses them.
  context_.strings.begin(session_, context_, options_);
  const auto take = [this](size_t input, const Tensor& tensor) -> Status {
    if (tensor.dtype() != DType::kStr || is_remote(tensor.data())) return {};
    Result<Register> ids = ids_of_input(context_.strings, tensor);
    if (!ids.ok())
      return std::move(ids).status().with_context("input \"" +
                                                  session_.module().input_names()[input] + "\"");
    input_ids_.push_back(*ids);
    return {};
  };
  for (size_t i = 0; i < context_.request->inputs.size(); ++i) {
    SCOPEVM_RETURN_IF_ERROR(take(i, context_.request->inputs[i]));
    for (const Tensor& element : context_.request->list_inputs[i].elements)
      SCOPEVM_RETURN_IF_ERROR(take(i, element));
  }
  return {};
}

// The register of an input has no storage, because its bytes are valid until the end of the call.
// The caller owns them; if the input is a string tensor, the call owns its ids.
Register Interpreter::input_register(const Tensor& input) {
  if (input.dtype() == DType::kStr && !is_remote(input.data())) return input_ids_[next_ids_++];
  return {static_cast<std::byte*>(input.data()), nullptr, input.bytes(), input.dtype(),
          static_cast<uint8_t>(input.rank())};
}

// Ends a string opcode. An invalid string is an error of the request, so its message names the
// model's op.
bool Interpreter::finish_string_op(const Status& work) {
  if (work.ok()) return true;
  if (work.code() == StatusCode::kCancelled || work.code() == StatusCode::kDeadlineExceeded) {
    status_ = work;
    return false;
  }
  if (work.code() != StatusCode::kInvalidArgument)
    return fail(work.code(), std::string(work.message()));
  return fail_at_source(std::string(work.message()));
}

bool Interpreter::run_string_op(StringOp* work, const StringOperands& in) {
  if (is_remote(in.to.data)) return true;
  return check_interrupts() &&
         finish_string_op(on_thread([&] { return work(context_.strings, in); }));
}

bool Interpreter::execute(const op::string_to_number& in) {
  return run_string_op(strings_to_numbers, {reg(in.to), reg(in.from)});
}

bool Interpreter::execute(const op::number_to_string& in) {
  return run_string_op(numbers_to_strings, {reg(in.to), reg(in.from)});
}

bool Interpreter::execute(const op::change_case& in) {
  return run_string_op(change_case, {reg(in.to), reg(in.from), value(in.upper)});
}

bool Interpreter::execute(const op::concat_strings& in) {
  return run_string_op(concat_strings, {reg(in.to), reg(in.a), 0, &reg(in.b)});
}

bool Interpreter::execute(const op::count_pieces& in) {
  return run_string_op(split_strings,
                       {reg(in.to), reg(in.from), value(in.max_splits), &reg(in.delimiter)});
}

bool Interpreter::execute(const op::split_strings& in) {
  return run_string_op(split_strings,
                       {reg(in.to), reg(in.from), value(in.max_splits), &reg(in.delimiter)});
}

bool Interpreter::execute(const op::match_strings& in) {
  return run_string_op(match_strings, {reg(in.to), reg(in.from), 0, &reg(in.automaton)});
}

}  // namespace scopevm::vm
