// Options that lower the memory plan of a model.
#pragma once

#include "compiler/pipeline/stages.h"
#include "scopevm/memory_explanation.h"

namespace scopevm::compiler::explain {

// The request for a function. The dims of `given` are those of main: each caller has its own dims
// of another function.
MemoryRequest request_of(FunctionIndex function, const MemoryRequest& given);

// Evaluates the plans with one thread, and plans the model with other options: another order of
// steps, those for convolutions, and --place rules for the largest buffers at the peaks of main.
// Adds the options that lower a plan to its arena.
void add_alternatives(const pipeline::Planned& planned, const pipeline::Context& context,
                      MemoryExplanation& explanation);

}  // namespace scopevm::compiler::explain
