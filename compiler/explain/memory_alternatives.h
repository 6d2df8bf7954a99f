// Options that lower the memory plan of a model.
#pragma once

#include "compiler/pipeline/stages.h"
#include "scopevm/memory_explanation.h"

namespace scopevm::compiler::explain {

// Evaluates the plan of main with one thread, and plans the model with other options: those for
// convolutions, and the --place rules that apply the suggestions of the arenas. Adds the options
// that lower the plan.
void add_alternatives(const pipeline::Planned& planned, const pipeline::Context& context,
                      MemoryExplanation::Function& main);

}  // namespace scopevm::compiler::explain
