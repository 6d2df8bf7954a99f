// Checks that a pool that nothing requires makes no graph fail, and none more expensive.
#pragma once

#include <string>

#include "scopevm/compiler.h"

namespace scopevm::compiler::property {

struct PoolEffect {
  std::string worse;         // what is worse with the pool; empty if nothing is
  bool is_compared = false;  // the costs are known: no copy depends on data
};

// Places the graph with the machine in `options`, and with this machine plus a pool on one of
// `devices`, which depends only on the text. It is worse if the placement fails only with the
// pool, or if copies and spills are then more expensive. Errors: those of
// explain<CopyExplanation>() without the pool.
Result<PoolEffect> effect_of_pool(const std::string& text, CompileOptions options);

}  // namespace scopevm::compiler::property
