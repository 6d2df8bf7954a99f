// Computes the memory of the calls that a function still makes, in terms of the function's dims.
// Most calls are inlined (compiler/program/transform/inline_calls.cpp) and part of the function's
// own plan.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/bytecode/emit.h"

namespace scopevm::compiler::bytecode {

// A number of bytes in one pool, as values of the function's shape program.
struct CallBytes {
  ShapeProgram::ValueIndex most;         // peak
  ShapeProgram::ValueIndex lower_bound;  // lower bound of the peak over all plans of the callees
};

struct CallMemory {
  using ByPool = std::map<PoolIndex, CallBytes>;
  // The peak of the function minus the sum of its arenas and results. It is needed for results of
  // calls that the function keeps, and for its callees.
  ByPool bytes;
  // A source of memory whose size the dims do not determine, because of recursion, closures or
  // data-dependent sizes.
  struct Open {
    std::string what;
    bool is_recursive = false;
  };
  std::vector<Open> open;
};

// Adds the values to the functions' shape programs.
IndexedVector<FunctionIndex, CallMemory> memory_of_calls(const Program& program,
                                                         PlannedFunctions& planned);

// True if the step allocates storage for `result` and the data decides whether it does or how much.
bool is_made_by_data(const Function& function, const Step& step, ValueId result);

// True if `bytes` depends on a runtime-defined symbol.
bool depends_on_data(const Function& function, DimExpr bytes);

}  // namespace scopevm::compiler::bytecode
