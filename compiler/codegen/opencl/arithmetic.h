// Prints one operation on scalars, or lane by lane on vectors, as an OpenCL C expression.
#pragma once

#include <string>

#include "compiler/codegen/opencl/form.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::codegen::opencl {

// The operation applied to `operands`, which are names or literals of `lanes` lanes: 1 or a native
// vector length. Empty if the operation is not elementwise or has no OpenCL C equivalent.
std::string expression(mlir::Operation* op, llvm::ArrayRef<std::string> operands, int64_t lanes);

// True for functions that are called once per lane. Their vector versions differ between drivers
// and some give wrong results (PoCL 3.1 with AVX-512: pow of double8).
bool is_called_by_lane(mlir::Operation* op);

// The scalar combination of two lanes in a vector.reduction. Empty for unsupported kinds.
std::string combined(mlir::vector::CombiningKind kind, Form form, const std::string& a,
                     const std::string& b);

}  // namespace scopevm::compiler::codegen::opencl
