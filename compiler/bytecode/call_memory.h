// Computes the memory that a function's calls need, as formulas over the function's dims. It
// consists of the workspaces of the callees, of which one runs at a time, and of the call results
// that the function holds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/bytecode/emit.h"

namespace scopevm::compiler::bytecode {

// A number of bytes in one pool, as values of the function's shape program.
struct CallBytes {
  ShapeProgram::ValueIndex most;         // peak over the calls
  ShapeProgram::ValueIndex lower_bound;  // lower bound of that peak over all plans
};

struct CallMemory {
  using ByPool = std::map<PoolIndex, CallBytes>;
  ByPool workspace;
  // Call results that the function or its callees hold, except those that the function returns.
  ByPool results;
  // Memory that the dims of the inputs do not determine, because of recursion or data-dependent
  // sizes.
  struct Open {
    std::string what;  // name of the entry in the memory formulas: "calls of f", "closures"
    bool is_recursive = false;
  };
  std::vector<Open> open;
};

// The memory of the calls of each function. Adds the formulas to the shape programs in `planned`.
IndexedVector<FunctionIndex, CallMemory> memory_of_calls(const Program& program,
                                                         PlannedFunctions& planned);

// True if the step allocates storage for `result`, and data determines whether it does so or the
// size of the storage.
bool is_made_by_data(const Function& function, const Step& step, ValueId result);

// True if `bytes` depends on a runtime-defined symbol.
bool depends_on_data(const Function& function, DimExpr bytes);

}  // namespace scopevm::compiler::bytecode
