// External functions or scopevm's kernels for a whole model, by measurement.
#pragma once

#include "compiler/pipeline/stages.h"

namespace scopevm::compiler::pipeline {

// Whether compile_tuned() applies: the options have a measurement and external libraries.
bool is_tuned(const CompileOptions& options);

// Compiles the model several times and returns the fastest module; see CompileOptions::tuning.
Result<Compiled> compile_tuned(Context& context);

}  // namespace scopevm::compiler::pipeline
