// The bytes of an elements attribute, whatever kind it is: dense, splat or resource.
#pragma once

#include "compiler/program.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace scopevm::compiler::graph {

// REQUIRES: dtype is not str. The attribute as a Program constant of `dtype`: raw row-major bytes,
// bool as one byte each, a splat expanded. Bytes are shared with the attribute where its layout
// allows, and then live as long as the MLIR context.
Constant constant_of_elements(mlir::ElementsAttr elements, DType dtype);

// All elements are equal: the first one's bytes in `scalar` (8 bytes at most). False for no
// elements, and for texts.
bool is_splat(mlir::ElementsAttr elements, DType dtype, uint64_t& scalar);

}  // namespace scopevm::compiler::graph
