// The generators of convolutions. lower_convolution selects one by the op and its operand types.
//   depthwise.cpp     f32 convolutions of 1 and 2 spatial dims with several groups and one input
//                     channel per group
//   conv.cpp          other f32 convolutions of 1 and 2 spatial dims with weights of static shape,
//                     on the micro-kernels of contraction/tile
//   blocked/          f32 convolutions of blocked images (sv.blocked_conv,
//                     sv.blocked_conv_transpose)
//   generic_conv.cpp  all others, including transposed convolutions of images by channel, as
//                     scalar loops
#pragma once

#include "compiler/fusion/contraction_match.h"
#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels {

using fusion::FusedContraction;

// A separable convolution of blocked images: a convolution with one group per channel, its
// epilogue, and a convolution of single pixels with its epilogue. The image between them is not
// stored. An inverted residual block (Sandler et al., MobileNetV2: Inverted Residuals and Linear
// Bottlenecks, 2018) begins with an expansion: one more convolution of single pixels with its
// epilogue.
struct FusedSeparable {
  // Its result is the image that the convolution with one group per channel reads.
  std::optional<FusedContraction> expansion;
  FusedContraction depthwise;  // no results
  mlir::Value image;           // the last value of `depthwise`
  FusedContraction pointwise;
};

// Empty unless `op` is a group of these ops in this order.
std::optional<FusedSeparable> match_separable(mlir::Operation* op);

// True if conv.cpp or depthwise.cpp, respectively, supports the convolution for f32 operands.
bool is_image_conv(const FusedContraction& fused);
bool is_depthwise_conv(const FusedContraction& fused);
llvm::LogicalResult lower_image_conv(const FusedContraction& fused, LoweringContext& context);
llvm::LogicalResult lower_depthwise_conv(const FusedContraction& fused, LoweringContext& context);

llvm::LogicalResult lower_blocked_conv(const FusedContraction& fused, LoweringContext& context);
llvm::LogicalResult lower_separable_conv(const FusedSeparable& fused, LoweringContext& context);
llvm::LogicalResult lower_blocked_depthwise(const FusedContraction& fused,
                                            LoweringContext& context);
// True if the convolution permits Winograd's algorithm and its weights are constant.
bool is_winograd_conv(const FusedContraction& fused, LoweringContext& context);
llvm::LogicalResult lower_winograd_conv(const FusedContraction& fused, LoweringContext& context);
llvm::LogicalResult lower_generic_conv(const FusedContraction& fused, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
