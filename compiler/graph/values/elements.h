// The bytes of an elements attribute of any kind: dense, splat or resource.
#pragma once

#include "compiler/program/program.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace scopevm::compiler::graph {

// Describes why the attribute cannot be a constant: it is neither dense nor a resource, it has more
// than 2^40 elements, or the resource does not contain exactly its elements as numbers. Empty if it
// can be a constant, which the functions below and ConstantArray require.
std::string error_of_elements(mlir::ElementsAttr elements);

// The attribute as a Program constant of `dtype`: raw row-major bytes, bool as one byte each,
// splats expanded. The bytes are shared with the attribute if its layout allows, and then stay
// valid as long as the MLIR context. REQUIRES: `dtype` is not str.
Constant constant_of_elements(mlir::ElementsAttr elements, DType dtype);

// True if all elements are equal; `scalar` then receives the bytes of one (at most 8). False for
// empty tensors and string tensors.
bool is_splat(mlir::ElementsAttr elements, DType dtype, uint64_t& scalar);

}  // namespace scopevm::compiler::graph
