// Expands math functions into polynomials, and conversions of f16 if the target lacks F16C.
#include "compiler/codegen/cpu/math_patterns.h"

#include "compiler/codegen/backend/half_patterns.h"
#include "compiler/kernels/target/target_attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace scopevm::compiler::codegen {
namespace {

struct MathPatternsPass : mlir::PassWrapper<MathPatternsPass, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MathPatternsPass)

  llvm::StringRef getArgument() const override { return "sv-math-patterns"; }
  void getDependentDialects(mlir::DialectRegistry& registry) const override {
    registry
        .insert<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::vector::VectorDialect>();
  }
  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    mlir::populateMathPolynomialApproximationPatterns(patterns);
    if (!getOperation()->hasAttr(kernels::kHasF16c)) add_half_patterns(patterns);
    if (failed(mlir::applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> create_math_patterns_pass() {
  return std::make_unique<MathPatternsPass>();
}

}  // namespace scopevm::compiler::codegen
