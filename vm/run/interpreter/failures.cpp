// The errors of instructions, which name the function and the instruction.
#include <string>

#include "runtime/count_text.h"
#include "vm/run/interpreter/interpreter_class.h"

namespace scopevm::vm {

using runtime::count_text;

bool Interpreter::fail(StatusCode code, const std::string& what) {
  const format::FunctionDecl& function = *frame_.function->decl;
  const isa::OpcodeRow* row = isa::find_opcode(static_cast<uint32_t>(isa::opcode(*at_)));
  status_ = Status(code, function.name + ": pc " + std::to_string(at_ - function.code.data()) +
                             ": " + std::string(row->name) + ": " + what);
  return false;
}

// Reports an invalid value of the request. The message starts with the names of the function and of
// the model's op, or is that of fail() if the op has no name.
bool Interpreter::fail_at_source(const std::string& what) {
  const format::FunctionDecl& function = *frame_.function->decl;
  const std::string name(
      session_.module().source_name(function, static_cast<uint32_t>(at_ - function.code.data())));
  if (name.empty()) return fail(StatusCode::kInvalidArgument, what);
  status_ = Status(StatusCode::kInvalidArgument, function.name + ": \"" + name + "\": " + what);
  return false;
}

bool Interpreter::fail_for_buffer(const format::LaunchDecl& launch, uint32_t index, int64_t bytes) {
  return fail(StatusCode::kInvalidModel, "kernel " + contents_.kernels[launch.kernel].symbol +
                                             ": buffer " + std::to_string(index) + " has " +
                                             count_text(bytes, "byte") + ", expected at least " +
                                             std::to_string(value(launch.bytes[index])));
}

}  // namespace scopevm::vm
