// The last pipeline stage: encodes a planned program as module contents.
//   code_emitter.cpp         one function's steps -> instruction words
//   control.cpp      branches and loops
//   calls.cpp        calls
//   lists.cpp        operations on lists
//   call_memory.cpp  memory of callees, in the caller's dims
//   emit.cpp         tables: signatures, memory formulas, shape functions, constants
#pragma once

#include <string>
#include <vector>

#include "compiler/memory/plan.h"
#include "compiler/program.h"
#include "compiler/shapes/program/shape_program.h"
#include "scopevm/status.h"
#include "vm/format/module_contents.h"

namespace scopevm::compiler::bytecode {

// The results of the earlier stages for one function of the program.
struct PlannedFunction {
  ShapeProgram shapes;
  memory::Plan plan;
};

// Instruction words of a function. Adds the slots that they name to `planned.shapes`. Errors:
// kUnsupported if an instruction is too long.
struct Code {
  std::vector<uint32_t> words;
  std::vector<format::SourceDecl> sources;
  uint32_t register_count = 0;
  std::vector<SlotIndex> result_bytes_slots;  // by output
};
// `shape_functions` is the index of the first segment's shape function; those of later segments
// follow it. Appends the messages that the function's instructions refer to.
Result<Code> emit_code(const Machine& machine, const Function& function, PlannedFunction& planned,
                       isa::ShapeFunctionIndex shape_functions, std::vector<std::string>& messages);

// Indexed by function of the program.
using PlannedFunctions = IndexedVector<FunctionIndex, PlannedFunction>;

// Emits everything except the images. The caller adds them after it has compiled the shape
// functions. Afterwards `planned` holds the shape programs with every slot that the code names. The
// symbol of a segment's shape function is shape_symbol(function, segment).
Result<format::ModuleContents> emit_module(const Program& program, PlannedFunctions& planned);

// The symbol of a segment's shape function: "shape_main", "shape_main.1".
std::string shape_symbol(const Function& function, SegmentIndex segment);

}  // namespace scopevm::compiler::bytecode
