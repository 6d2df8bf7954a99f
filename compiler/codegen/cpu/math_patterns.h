// A pass that expands math functions of f32 into polynomials, scalar or vector. It also expands
// conversions of f16 if the target lacks F16C. MLIR provides the polynomials only as patterns, not
// as a pass.
#pragma once

#include <memory>

namespace mlir {
class Pass;
}

namespace scopevm::compiler::codegen {

std::unique_ptr<mlir::Pass> create_math_patterns_pass();

}  // namespace scopevm::compiler::codegen
