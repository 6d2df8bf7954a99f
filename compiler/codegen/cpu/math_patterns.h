// A pass that expands math functions of f32 into polynomials, scalar or vector. It also expands
// conversions that the target lacks. It wraps MLIR's pattern set, which the MLIR libraries do not
// provide as a pass.
#pragma once

#include <memory>

namespace mlir {
class Pass;
}

namespace scopevm::compiler::codegen {

std::unique_ptr<mlir::Pass> create_math_patterns_pass();

}  // namespace scopevm::compiler::codegen
