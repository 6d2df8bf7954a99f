// Explains the plan of an arena: the buffers that are live at its peak.
#pragma once

#include <vector>

#include "compiler/memory/plan.h"
#include "compiler/memory/samples.h"
#include "compiler/shapes/shape_program.h"
#include "scopevm/memory_explanation.h"

namespace scopevm::compiler::memory {

// The dims of a call of `function`, data-dependent dims and the thread count: those of `given`, and
// representative values of the others, which the checks of the function restrict. Errors:
// kInvalidArgument, if `given` contains an unknown name, or if the dims violate a check of the
// function; kResourceLimit, if sizes overflow.
Result<Request> explained_request(const Function& function, const ShapeProgram& shapes,
                                  const MemoryRequest& given);

// `arena` is one of `plan`. REQUIRES: `shapes` can be evaluated for the request, and contains the
// formulas of `plan`.
MemoryExplanation::Arena explain(const Program& program, const Function& function, const Plan& plan,
                                 const Arena& arena, const ShapeProgram& shapes,
                                 const Request& request);

// The steps of the function as reports print them.
std::vector<MemoryExplanation::Step> explained_steps(const Program& program,
                                                     const Function& function);

}  // namespace scopevm::compiler::memory
