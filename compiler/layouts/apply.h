// Rewrites ops to their blocked forms.
#pragma once

#include "compiler/layouts/candidate.h"
#include "compiler/layouts/layouts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler::layouts {

// The time of a conversion of an image.
using ConversionSeconds = llvm::function_ref<double(graph::TensorType image)>;

// Replaces these ops of the function, which are in program order, and appends the conversions to
// the report.
void apply(mlir::func::FuncOp function, const std::vector<Candidate>& ops,
           ConversionSeconds seconds, Report& report);

}  // namespace scopevm::compiler::layouts
