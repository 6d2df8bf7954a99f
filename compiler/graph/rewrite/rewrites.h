// Canonicalization patterns: each replaces one op by a cheaper equivalent, which can also replace
// producers of the op. Each op lists its patterns in getCanonicalizationPatterns.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "mlir/IR/PatternMatch.h"

namespace scopevm::compiler::graph {

// Returns a cheaper value equal to the single result of `op`, built at the insertion point of
// `builder`; null if there is none. May return an operand. In a placed graph the value has the
// place of the result, and ops at different places are not combined.
template <typename Op>
using Rewrite = mlir::Value (*)(Op op, mlir::OpBuilder& builder);

template <typename Op, Rewrite<Op> rewrite>
llvm::LogicalResult replace_by(Op op, mlir::PatternRewriter& rewriter) {
  if (is_constrained(op) || op->use_empty()) return mlir::failure();
  mlir::Value replacement = rewrite(op, rewriter);
  if (!replacement) return mlir::failure();
  rewriter.replaceOp(op, replacement);
  return mlir::success();
}

// Adds the rewrites in order of priority: the first that applies is used.
template <typename Op, Rewrite<Op>... rewrites>
void add_rewrites(mlir::RewritePatternSet& patterns) {
  unsigned short benefit = sizeof...(rewrites);
  (patterns.add(&replace_by<Op, rewrites>, mlir::PatternBenefit(benefit--)), ...);
}

// Matches (x - mean) / sqrt(variance + epsilon) * scale + bias and returns a layer_norm:
// normalisation.cpp.
mlir::Value rewrite_normalisation(AddOp add, mlir::OpBuilder& builder);

// The value of a splat constant of type f32 or f64. Empty for any other value.
std::optional<double> splat_of(mlir::Value value);

// select(is_nan(s), 0, s), where s is a softmax. Only these ops use s and the test.
struct GuardedSoftmax {
  SoftmaxOp softmax;
  IsNanOp test;
  SelectOp select;
};
std::optional<GuardedSoftmax> match_guarded_softmax(mlir::Value value);

// Attention: attention.cpp. The first one moves a constant factor from the right operand of a
// product to the left one, which has fewer rows in a call with few new tokens.
mlir::Value scale_left_operand(MatMulOp op, mlir::OpBuilder& builder);
// The second product of attention whose keys and values are repeated for groups of heads.
mlir::Value group_heads(MatMulOp op, mlir::OpBuilder& builder);

// Splits a concat of many operands into concats of at most 32 operands: rewrites.cpp.
mlir::Value split_concat(ConcatOp op, mlir::OpBuilder& builder);

}  // namespace scopevm::compiler::graph
