// Checks that a pool that nothing requires makes no graph fail, and none more expensive.
#pragma once

#include <string>

#include "scopevm/compiler.h"

namespace scopevm::compiler::property {

// Places the graph with the machine in `options`, for some graphs with a limited workspace or with
// a pool that nothing requires. Compares the placement with that for the same machine plus one such
// pool. The pools depend only on the text. Returns what is worse with the additional pool: the
// placement fails, or its copies, spills and accesses together cost more. Empty if nothing is
// worse. Errors: those of explain<CopyExplanation>() without the additional pool.
Result<std::string> worse_with_pool(const std::string& text, CompileOptions options);

}  // namespace scopevm::compiler::property
