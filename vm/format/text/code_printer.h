// A function's code -> lines of text.
#pragma once

#include <string>

#include "vm/format/module_contents.h"
#include "vm/format/text/reference.h"

namespace scopevm::format::text {

// Appends the lines of a function's body: `source` lines where sources do not fit behind
// instructions, then instructions and labels, then `.word` lines for what is no instruction.
void append_code(std::string& out, const FunctionDecl& function, const References& references);

// Whether the text form puts "name=" before the field: integers always, others where the opcode has
// two of the type.
bool is_named(const isa::OpcodeRow& row, const isa::FieldRow& field);

}  // namespace scopevm::format::text
