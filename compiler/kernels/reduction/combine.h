// Combining lanes: the operators of reductions and their neutral elements.
#pragma once

#include "compiler/kernels/elementwise/lanes.h"

namespace scopevm::compiler::kernels {

enum class Combine : uint8_t { kSum, kProduct, kMax, kMin };

Term combine(Combine how, Term a, Term b, bool is_unsigned);
// Neutral element as a vector or scalar of `type`.
mlir::Value neutral_value(KernelDraft& draft, Combine how, mlir::Type type, bool is_unsigned);
// All lanes as one scalar, halves first: the same order on every run.
mlir::Value across_lanes(KernelDraft& draft, Combine how, mlir::Value lanes, bool is_unsigned);
// Lanes outside of the mask become neutral.
mlir::Value masked(KernelDraft& draft, Combine how, const Lanes& lanes, mlir::Value value,
                   bool is_unsigned);

}  // namespace scopevm::compiler::kernels
