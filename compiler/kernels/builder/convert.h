// Element types in kernels: the type that arithmetic uses, and casts between dtypes.
#pragma once

#include "compiler/kernels/builder/kernel_module.h"
#include "compiler/kernels/builder/term.h"
#include "scopevm/dtype.h"

namespace scopevm::compiler::kernels {

// The type that values of `dtype` have in arithmetic: i1 for bool, f32 for f16 and bf16, else the
// storage type.
mlir::Type arithmetic_type(mlir::MLIRContext* context, DType dtype);

// Converts x from dtype `from` to dtype `to`. x and the result have the arithmetic types of these
// dtypes. Integers wrap. Floats convert to integers by rounding towards zero and saturating; NaN
// converts to 0. Any non-zero value converts to true.
Term cast(Term x, DType from, DType to);

// Converts between the storage type and the arithmetic type (bool i8 <-> i1, f16 and bf16 <-> f32).
mlir::Value load_convert(mlir::OpBuilder& builder, mlir::Location location, DType dtype,
                         mlir::Value stored);
mlir::Value store_convert(mlir::OpBuilder& builder, mlir::Location location, DType dtype,
                          mlir::Value value);

}  // namespace scopevm::compiler::kernels
