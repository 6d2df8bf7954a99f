// Rewrite patterns that convert between f16 and f32 by integer arithmetic, for OpenCL and for CPUs
// without F16C. Without these patterns, LLVM would emit calls of a compiler's run-time library.
#pragma once

namespace mlir {
class RewritePatternSet;
}

namespace scopevm::compiler::codegen {

void add_half_patterns(mlir::RewritePatternSet& patterns);

}  // namespace scopevm::compiler::codegen
