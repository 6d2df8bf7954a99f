// Rewrites ops to their blocked forms.
#pragma once

#include "compiler/layouts/candidate.h"
#include "compiler/layouts/layouts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler::layouts {

// Replaces these ops of the function, which are in program order, and appends the conversions to
// the report.
void apply(mlir::func::FuncOp function, const std::vector<Candidate>& ops, Report& report);

}  // namespace scopevm::compiler::layouts
