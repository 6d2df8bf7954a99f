// The generators behind lower_convolution, by kind of operands.
//   conv.cpp          f32 convolutions of 1 and 2 dims with weights of static shape, on the
//                     micro-kernels of contraction/matmul
//   depthwise.cpp     f32 convolutions of 1 and 2 dims with one input channel a group
//   generic_conv.cpp  everything else, transposed convolutions too: scalar loops
#pragma once

#include "compiler/fusion/contraction_match.h"
#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels {

using fusion::FusedContraction;

// What conv.cpp and depthwise.cpp take.
bool is_image_conv(const FusedContraction& fused);
bool is_depthwise_conv(const FusedContraction& fused);
llvm::LogicalResult lower_image_conv(const FusedContraction& fused, LoweringContext& context);
llvm::LogicalResult lower_depthwise_conv(const FusedContraction& fused, LoweringContext& context);

llvm::LogicalResult lower_generic_conv(const FusedContraction& fused, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
