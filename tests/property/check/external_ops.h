// An external library that computes elementwise ops of random graphs with plain loops.
#pragma once

#include <cstdint>

#include "scopevm/c/external.h"

namespace scopevm::compiler::property {

// Its patterns are single ops and pairs of ops, for f32, f64 and i32. It refuses every third
// function, and overwrites all of its workspace in each run.
const scopevm_external_library& external_ops(bool merges_parts);
// The number of runs of its functions in this process.
int64_t external_runs();

}  // namespace scopevm::compiler::property
