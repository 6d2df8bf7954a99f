// The generators that lower_contraction selects from, by kind of operands.
//   matmul.cpp          matrix products of f32, and of u8 by i8, batched, on the micro-kernels
//   attention.cpp       softmax of a matrix product, times a matrix, as one fused kernel
//   generic_matmul.cpp  all other matrix products, as scalar loops
//   determinant.cpp     det (determinant.h)
#pragma once

#include "compiler/fusion/contraction_match.h"
#include "compiler/kernels/builder/lowering_context.h"
#include "compiler/kernels/generators.h"

namespace scopevm::compiler::kernels {

using fusion::FusedAttention;
using fusion::FusedContraction;

// u8 by i8, neither transposed.
bool is_byte_matmul(const FusedContraction& fused);
llvm::LogicalResult lower_matmul(const FusedContraction& fused, LoweringContext& context);

llvm::LogicalResult lower_attention(const FusedAttention& fused, LoweringContext& context);

llvm::LogicalResult lower_generic_matmul(const FusedContraction& fused, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
