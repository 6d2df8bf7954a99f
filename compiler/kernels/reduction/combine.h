// The operators of reductions on vectors, and their neutral elements.
#pragma once

#include "compiler/kernels/builder/code_builder.h"

namespace scopevm::compiler::kernels {

using graph::Combine;

// Applies the operator lane by lane.
Term combine(Combine how, Term a, Term b, bool is_unsigned);
// The neutral element as a vector or scalar of `type`.
Term neutral_value(CodeBuilder& k, Combine how, mlir::Type type, bool is_unsigned);
// Combines all lanes into a scalar by repeated halving, so that the order of operations is fixed.
Term across_lanes(CodeBuilder& k, Combine how, Term lanes, bool is_unsigned);
// Replaces the lanes of `value` outside lanes.mask by the neutral element.
Term masked(CodeBuilder& k, Combine how, const Lanes& lanes, Term value, bool is_unsigned);

}  // namespace scopevm::compiler::kernels
