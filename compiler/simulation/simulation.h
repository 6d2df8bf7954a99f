// Simulates a request on the machine: the steps of a function and a size for each dim -> seconds.
// Each rank has a clock, and so has each direction of the link of two ranks. The times of accesses
// and copies are those of the machine's cost model. docs/explain.md describes the model.
#pragma once

#include <vector>

#include "compiler/memory/liveness.h"
#include "compiler/memory/samples.h"
#include "scopevm/status.h"
#include "scopevm/time_explanation.h"

namespace scopevm::compiler::simulation {

struct RequestTime {
  double seconds = 0;  // until rank 0 knows that all ranks have ended their parts
  std::vector<TimeExplanation::Rank> ranks;
  std::vector<TimeExplanation::Link> links;  // those with messages, by sender and receiver
};

// The time of a request for `function`, main or a variant, whose buffers have these lifespans.
// Errors: kUnsupported (a branch, a loop with a condition, or a call that is not inlined: what they
// execute is not known), kResourceLimit (too many steps, or a size without a value).
Result<RequestTime> simulate(const Program& program, const Function& function,
                             const memory::Liveness& liveness, const memory::Request& request);

}  // namespace scopevm::compiler::simulation
