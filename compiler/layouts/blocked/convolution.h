// The blocked forms of convolutions.
#pragma once

#include "compiler/layouts/candidate.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::layouts {

bool is_convolution(const Candidate& candidate);

// Builds the blocked form of a convolution of x, which is blocked or, if the candidate reads images
// by channel, can be by channel. The result is blocked if the candidate has a blocked result.
// REQUIRES: is_convolution(candidate).
mlir::Value blocked_convolution(mlir::OpBuilder& builder, const Candidate& candidate,
                                mlir::Value x);

}  // namespace scopevm::compiler::layouts
