// The generators of matrix products. lower_contraction selects one by the op or group, the element
// types and, for bytes, the transposition of the operands.
//   attention/                 softmax of a matrix product, times a matrix, as one fused kernel
//   matmul/matmul.cpp          products of f32, of u8 by i8 without transposed operands, and of f32
//                              by quantised constants, on the micro-kernels of tile/
//   matmul/generic_matmul.cpp  all other products, as scalar loops
#pragma once

#include "compiler/fusion/contraction_match.h"
#include "compiler/kernels/builder/lowering_context.h"
#include "compiler/kernels/contraction/tile/quantised_panel.h"
#include "compiler/kernels/generators.h"

namespace scopevm::compiler::kernels {

using fusion::FusedContraction;

// True for a product of u8 by i8 without transposed operands.
bool is_byte_matmul(const FusedContraction& fused);
// The zero point of all blocks of a matmul_blocks, if it is known at compile time.
std::optional<float> known_zero(const FusedContraction& fused);
// The format of the weight of a matmul_blocks that lower_matmul can lower. Empty for other
// products.
std::optional<BlockFormat> quantised_format(const FusedContraction& fused,
                                            LoweringContext& context);
llvm::LogicalResult lower_matmul(const FusedContraction& fused, LoweringContext& context);

// Attention: softmax(epilogue(a b)) c with softmax along the last dim, where a, b and c are the
// queries, keys and values.
struct FusedAttention {
  FusedContraction scores;   // a b and its epilogue; no results
  mlir::Value score;         // operand of the softmax: the last value of the scores
  bool is_guarded = false;   // rows whose softmax is NaN are 0
  FusedContraction product;  // the product with c
};

// Empty unless `op` is a group of ops in this order, of which one kernel can compute all: a
// product, its epilogue, a softmax, perhaps with graph::GuardedSoftmax, and a second product, which
// the group yields.
std::optional<FusedAttention> match_attention(mlir::Operation* op);
llvm::LogicalResult lower_attention(const FusedAttention& fused, LoweringContext& context);

llvm::LogicalResult lower_generic_matmul(const FusedContraction& fused, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
