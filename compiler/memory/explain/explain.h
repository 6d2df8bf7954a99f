// Explains the plan of an arena: the buffers that are live at its peak, and the changes of the
// function that lower the peak.
//   explain.cpp     the arena and its buffers
//   live_bytes.cpp  the live bytes at each step
//   steps.cpp       the names of steps
//   find_edits.cpp  a peak -> edits of the function
//   edit.cpp        applies edits
//   suggest.cpp     edits -> plans of the edited functions
#pragma once

#include "compiler/memory/explain/suggest.h"
#include "compiler/shapes/shape_program.h"
#include "scopevm/memory_explanation.h"

namespace scopevm::compiler::memory {

// The dims of a call of `function`, data-dependent dims and the thread count: those of `given`, and
// representative values of the others, which the checks of the function restrict. Errors:
// kInvalidArgument, if `given` contains an unknown name, or if the dims violate a check of the
// function; kResourceLimit, if sizes overflow.
Result<Request> explained_request(const Function& function, const ShapeProgram& shapes,
                                  const MemoryRequest& given);

// REQUIRES: `shapes` can be evaluated for the request, and contains the formulas of `plan`.
MemoryExplanation::Arena explain(const SuggestionRequest& request, const Plan& plan,
                                 const ShapeProgram& shapes);

// The steps of the function as reports print them.
std::vector<MemoryExplanation::Step> explained_steps(const Program& program,
                                                     const Function& function);

}  // namespace scopevm::compiler::memory
