// The split of a model into consecutive parts (docs/ranks.md, "Splitting a model").
#pragma once

#include "llvm/ADT/MapVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "scopevm/status.h"

namespace scopevm::compiler::split {

// The stage of some ops, from 0, in program order.
using StageOfOp = llvm::MapVector<mlir::Operation*, int>;

// The stages of the ops with weights, products and windows of a function, also of those in regions:
// those of stage 0 come first. divide() in divide.h has the criteria. Errors: kInvalidArgument (the
// function has fewer such ops than stages).
Result<StageOfOp> pipeline_stages(mlir::func::FuncOp function, int stages);

}  // namespace scopevm::compiler::split
