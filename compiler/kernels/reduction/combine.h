// Combining lanes: the operators of reductions and their neutral elements.
#pragma once

#include "compiler/kernels/builder/code_builder.h"

namespace scopevm::compiler::kernels {

using graph::Combine;

Term combine(Combine how, Term a, Term b, bool is_unsigned);
// Neutral element as a vector or scalar of `type`.
Term neutral_value(CodeBuilder& k, Combine how, mlir::Type type, bool is_unsigned);
// All lanes as one scalar, halves first: the same order on every run.
Term across_lanes(CodeBuilder& k, Combine how, Term lanes, bool is_unsigned);
// Lanes outside of the mask become neutral.
Term masked(CodeBuilder& k, Combine how, const Lanes& lanes, Term value, bool is_unsigned);

}  // namespace scopevm::compiler::kernels
