// What the calls that a function makes need of memory, as far as the function's dims decide it:
// callees' workspaces, and results that the function keeps. One callee runs at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/bytecode/emit.h"

namespace scopevm::compiler::bytecode {

// Bytes of one pool, as a value of the function's shape program and for people.
struct CallBytes {
  ShapeProgram::ValueIndex most;                // at one time
  ShapeProgram::ValueIndex lower_bound;         // likewise; no plan of the callees is lower
  std::optional<DimExpr> formula = DimExpr(0);  // none: too long
};

struct CallMemory {
  using ByPool = std::map<PoolIndex, CallBytes>;
  ByPool workspace;
  ByPool results;  // kept or made during the calls, without those that the function returns
  // What needs more than the dims tell, and why: a callee calls itself, or data decides.
  struct Open {
    std::string what;
    bool is_recursive = false;
  };
  std::vector<Open> open;
};

// Adds the values to the functions' shape programs.
IndexedVector<FunctionIndex, CallMemory> memory_of_calls(const Program& program,
                                                         PlannedFunctions& planned);

// True when the step gives its result a storage of its own, and data decides whether, or how large.
bool is_made_by_data(const Function& function, const Step& step, ValueId result);

// True if the bytes depend on a runtime-defined symbol.
bool depends_on_data(const Function& function, DimExpr bytes);

}  // namespace scopevm::compiler::bytecode
