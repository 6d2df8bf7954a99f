// Canonicalization patterns: rewrites of one op and what it reads into something cheaper that gives
// the same. An op lists its own in getCanonicalizationPatterns.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/together.h"
#include "mlir/IR/PatternMatch.h"

namespace scopevm::compiler::graph {

// A value equal to op's only result that costs less, built where `builder` stands; null when there
// is none. May return an operand. In a placed graph it has the place of the result, and ops of
// several places stay apart.
template <typename Op>
using Rewrite = mlir::Value (*)(Op op, mlir::OpBuilder& builder);

template <typename Op, Rewrite<Op> rewrite>
llvm::LogicalResult replace_by(Op op, mlir::PatternRewriter& rewriter) {
  if (asks(op) || op->use_empty()) return mlir::failure();
  mlir::Value replacement = rewrite(op, rewriter);
  if (!replacement) return mlir::failure();
  rewriter.replaceOp(op, replacement);
  return mlir::success();
}

// The first rewrite that applies is taken.
template <typename Op, Rewrite<Op>... rewrites>
void add_rewrites(mlir::RewritePatternSet& patterns) {
  unsigned short benefit = sizeof...(rewrites);
  (patterns.add(&replace_by<Op, rewrites>, mlir::PatternBenefit(benefit--)), ...);
}

// (x - mean) / sqrt(variance + epsilon) * scale + bias as a layer_norm: normalisation.cpp.
mlir::Value rewrite_normalisation(AddOp add, mlir::OpBuilder& builder);

}  // namespace scopevm::compiler::graph
