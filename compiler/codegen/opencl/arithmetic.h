// One operation on scalars, or lane by lane on vectors, as an expression of OpenCL C.
#pragma once

#include <string>

#include "compiler/codegen/opencl/form.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::codegen::opencl {

// The operation with these operands, all of `lanes` lanes (1 or a native count). `operands` are
// names or literals. Empty for operations that are not of this kind, or have no form.
std::string expression(mlir::Operation* op, llvm::ArrayRef<std::string> operands, int64_t lanes);

// True for functions that are called once a lane: vectors of them are where drivers differ, down to
// wrong results (PoCL 3.1 with AVX-512: pow of double8).
bool is_called_by_lane(mlir::Operation* op);

// What vector.reduction combines lanes with; scalars. Empty for kinds that have no form.
std::string combined(mlir::vector::CombiningKind kind, Form form, const std::string& a,
                     const std::string& b);

}  // namespace scopevm::compiler::codegen::opencl
