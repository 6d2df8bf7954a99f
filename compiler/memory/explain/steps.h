// The kinds of steps as reports print them. Private to compiler/memory/explain.
#pragma once

#include <string>

#include "compiler/program/program.h"
#include "scopevm/memory_explanation.h"

namespace scopevm::compiler::memory {

// "conv" for a launch of kernel conv_12, the external function, or the kind of another step.
std::string op_of(const Program& program, const Step& step);

// Whether a step computes each element of its result with few operations, so that a second launch
// is cheap: elementwise kernels, copies, transposes, constant sequences.
bool is_cheap(const Program& program, const Step& step);

MemoryExplanation::Step explained(const Program& program, const Step& step);

}  // namespace scopevm::compiler::memory
