// Calls the callbacks of external libraries, and checks what they return.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/program/program.h"
#include "scopevm/c/external.h"
#include "scopevm/status.h"

namespace scopevm::compiler::external {

// The text in a buffer that a library has filled, possibly without a NUL.
std::string text_in(std::span<const char> buffer);

// A kInvalidArgument error of the library.
Status invalid(const scopevm_external_library& library, const std::string& message);

// Errors: kInvalidArgument (a library is null, of another ABI version or without a name, or two
// have the same name).
Status check_libraries(std::span<const scopevm_external_library* const> libraries);

// The answer of a library about a function.
struct Answer {
  bool is_accepted = false;
  std::string workspace = "0";
  std::string reason;                                // why the function is not accepted
  std::vector<scopevm_external_constant> constants;  // the constant operands
};

// Queries whether the library computes the function. `constants` are the numbers of its constant
// operands. Errors: kInvalidArgument (the library fails, or its answer is invalid).
Result<Answer> query(const scopevm_external_library& library, const std::string& symbol,
                     const std::string& description, const std::vector<size_t>& constants);

using PreparedConstant = std::shared_ptr<const std::vector<char>>;

// The prepared form of a constant operand, of `operand.bytes` bytes. Errors: kInvalidArgument (the
// library fails). REQUIRES: `operand` is from query().
Result<PreparedConstant> prepare(const scopevm_external_library& library, const std::string& symbol,
                                 const std::string& description,
                                 const scopevm_external_constant& operand, Constant value);

}  // namespace scopevm::compiler::external
