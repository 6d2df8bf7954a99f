// Computes the memory that a function's calls need, in terms of the function's dims: the callees'
// workspaces, and the results that the function keeps. One callee runs at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/bytecode/emit.h"

namespace scopevm::compiler::bytecode {

// A number of bytes in one pool, as values of the function's shape program.
struct CallBytes {
  ShapeProgram::ValueIndex most;         // peak over the calls
  ShapeProgram::ValueIndex lower_bound;  // lower bound of the peak over all plans of the callees
};

struct CallMemory {
  using ByPool = std::map<PoolIndex, CallBytes>;
  ByPool workspace;
  // Bytes kept or allocated during the calls, except results that the function returns.
  ByPool results;
  // A requirement that the dims do not determine, and the reason: recursion, or data-dependent
  // sizes.
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
