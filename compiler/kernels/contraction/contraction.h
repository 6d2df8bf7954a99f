// The generators behind lower_contraction, by kind of operands.
//   matmul.cpp         matrix products of f32, and of u8 by i8, batched, on the micro-kernels
//   conv.cpp           f32 convolutions of 1 and 2 dims with weights of static shape, on the
//   micro-kernels depthwise.cpp      f32 convolutions of 1 and 2 dims with one input channel a
//   group attention.cpp      softmax of a matrix product, times a matrix: one kernel, no matrix
//   between generic_matmul.cpp, generic_conv.cpp  everything else, transposed convolutions too:
//   scalar loops
#pragma once

#include "compiler/fusion/contraction_match.h"
#include "compiler/kernels/generator.h"

namespace scopevm::compiler::kernels {

using fusion::FusedAttention;
using fusion::FusedContraction;

// u8 by i8, neither transposed.
bool is_byte_matmul(const FusedContraction& fused);
void lower_matmul(const FusedContraction& fused, LoweringContext& context);

void lower_attention(const FusedAttention& fused, LoweringContext& context);

// What conv.cpp and depthwise.cpp take.
bool is_image_conv(const FusedContraction& fused);
bool is_depthwise_conv(const FusedContraction& fused);
void lower_image_conv(const FusedContraction& fused, LoweringContext& context);
void lower_depthwise_conv(const FusedContraction& fused, LoweringContext& context);

void lower_generic_matmul(const FusedContraction& fused, LoweringContext& context);
void lower_generic_conv(const FusedContraction& fused, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
