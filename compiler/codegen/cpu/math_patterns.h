// A pass that expands math functions of f32 into polynomials, as vectors where they are vectors (it
// wraps MLIR's pattern set, which has no pass of its own in the libraries), and conversions that
// the target lacks.
#pragma once

#include <memory>

namespace mlir {
class Pass;
}

namespace scopevm::compiler::codegen {

std::unique_ptr<mlir::Pass> create_math_patterns_pass();

}  // namespace scopevm::compiler::codegen
