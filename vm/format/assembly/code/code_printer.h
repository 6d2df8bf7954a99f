// Prints the code of a function as assembly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vm/format/assembly/code/reference.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::format::assembly {

// Appends the lines of a function's body. Sources are printed after their instructions if that
// preserves their order, else as `.source` lines first. Words that do not form an instruction are
// printed last, as `.word` lines.
void append_code(std::string& out, const FunctionDecl& function, const References& references);

// An instruction as assembly, with its sources and without indentation.
struct CodeLine {
  uint32_t word = 0;       // of the instruction
  bool is_target = false;  // of a jump: assembly has a label before the line
  std::string text;
};
std::vector<CodeLine> code_lines(const FunctionDecl& function, const References& references);

// Whether assembly prefixes the field with "name=". True for integers and slots, and for a field
// whose form occurs more than once among the fields of the opcode that are not written.
bool is_named(const isa::OpcodeRow& row, const isa::FieldRow& field);

}  // namespace scopevm::format::assembly
