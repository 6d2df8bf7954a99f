// The last stage: a planned program -> module contents.
//   code.cpp     one function's steps -> instruction words
//   control.cpp  the part of it for branches and loops
//   calls.cpp    the part of it for calls
//   call_memory.cpp   what callees need, in the caller's dims
//   emit.cpp     tables around them: signatures, memory formulas, shape functions, constants
#pragma once

#include <string>
#include <vector>

#include "compiler/memory/plan.h"
#include "compiler/program.h"
#include "compiler/shapes/program/shape_program.h"
#include "scopevm/status.h"
#include "vm/format/module_contents.h"

namespace scopevm::compiler::bytecode {

// What the stages before made of one function of the program.
struct PlannedFunction {
  ShapeProgram shapes;
  memory::Plan plan;
};

// Instruction words of a function. Adds the slots that they name to `planned.shapes`. Fails if an
// instruction is too long.
struct Code {
  std::vector<uint32_t> words;
  std::vector<format::SourceDecl> sources;
  uint32_t register_count = 0;
  std::vector<SlotIndex> result_bytes_slots;  // by output
};
// `shape_functions` is the index of its first segment's shape function; the others follow. Appends
// the module's messages that it needs.
Result<Code> emit_code(const Machine& machine, const Function& function, PlannedFunction& planned,
                       isa::ShapeFunctionIndex shape_functions, std::vector<std::string>& messages);

// By function of the program.
using PlannedFunctions = IndexedVector<FunctionIndex, PlannedFunction>;

// Everything but the images, which the caller adds once the shape functions are compiled: their
// programs, with all slots that the code names, are in `planned` afterwards, and the symbol of a
// segment is shape_symbol(function, segment).
Result<format::ModuleContents> emit_module(const Program& program, PlannedFunctions& planned);

std::string shape_symbol(const Function& function, SegmentIndex segment);

}  // namespace scopevm::compiler::bytecode
