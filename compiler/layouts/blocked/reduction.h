// The blocked forms of reductions and softmax.
#pragma once

#include "compiler/layouts/candidate.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::layouts {

// Builds the blocked form of a reduction. `x` is blocked. The result has the type of the
// candidate's result, or its blocked form if the candidate has a blocked result.
mlir::Value blocked_reduction(mlir::OpBuilder& builder, const Candidate& candidate, mlir::Value x);

// Builds the blocked form of sv.softmax or sv.log_softmax. `x` is blocked.
mlir::Value blocked_softmax(mlir::OpBuilder& builder, const Candidate& candidate, mlir::Value x);

}  // namespace scopevm::compiler::layouts
