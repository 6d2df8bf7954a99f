// The bytecode stage: encodes a planned program as module contents.
//   code_emitter.cpp  one function's steps -> instruction words
//   control.cpp       branches and loops
//   calls.cpp         calls
//   lists.cpp         operations on lists
//   call_memory.cpp   memory of callees, in the caller's dims
//   bound.cpp         bytes in each pool -> the programs of the bound functions
//   emit.cpp          tables, such as signatures, memory formulas, shape functions and constants
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/memory/plan.h"
#include "compiler/program/program.h"
#include "compiler/shapes/shape_program.h"
#include "scopevm/status.h"
#include "vm/format/schema/launch_flops.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::compiler::bytecode {

// The results of the earlier stages for one function of the program.
struct PlannedFunction {
  ShapeProgram shapes;
  memory::Plan plan;
  // Set by emit_module(): the storages of a call whose sizes do not depend on data.
  struct Storage {
    PoolIndex pool;
    ShapeProgram::ValueIndex bytes;  // of `shapes`
    DimExpr formula;                 // the same bytes
  };
  std::vector<Storage> storages;
};

// The instructions of a function.
struct Code {
  std::vector<uint32_t> words;
  std::vector<format::SourceDecl> sources;
  std::vector<format::LaunchFlops> flops;  // without the index of the function
  uint32_t register_count = 0;
  std::vector<SlotIndex> result_bytes_slots;  // by output
  // By segment: the shape function that is in effect when that of the segment runs.
  IndexedVector<SegmentIndex, std::optional<isa::ShapeFunctionIndex>> follows;
};
// Translates the steps of a planned function. Adds the slots that the instructions and launches use
// to `planned.shapes`, and appends launches and the messages of assertions to `module`. The shape
// functions of the function are the next ones of `module`. Errors: kUnsupported if an instruction
// is too long.
Result<Code> emit_code(const Machine& machine, const Function& function, PlannedFunction& planned,
                       format::ModuleContents& module);

using PlannedFunctions = IndexedVector<FunctionIndex, PlannedFunction>;

// Emits everything except the images, which contain the shape functions. Adds the slots that the
// code uses to the shape programs in `planned`. The caller must therefore compile the shape
// functions afterwards, with the symbols that shape_symbol() returns.
Result<format::ModuleContents> emit_module(const Program& program, PlannedFunctions& planned);

// The programs of a function's bound functions (BoundFn, RangeBoundFn).
Result<ShapeProgram> bound_program(const Machine& machine, const Function& function,
                                   const PlannedFunction& planned);
Result<ShapeProgram> range_bound_program(const Machine& machine, const Function& function,
                                         const PlannedFunction& planned);

// The symbol of a segment's shape function: "shape_main", "shape_main.1".
std::string shape_symbol(const Function& function, SegmentIndex segment);

}  // namespace scopevm::compiler::bytecode
