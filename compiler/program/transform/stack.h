// Buffers in the stack frames of function calls.
#pragma once

#include "compiler/program/program.h"
#include "scopevm/status.h"

namespace scopevm::compiler::transform {

// On CPUs that have a stack, moves buffers without a required scope into the frame of their
// function. Moves either all workspace buffers of a segment or none, and keeps the frame within the
// stack's limit. A parameter gets the stack's pool if any call passes a buffer of a frame for it.
// Errors: kInvalidModel, with the name of a value that the graph requires in a stack, but that
// cannot be stored there.
Status use_stacks(Program& program);

}  // namespace scopevm::compiler::transform
