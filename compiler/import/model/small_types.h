// The element types of 2, 4 and 8 bits that are no types of graph ops (is_small). Values in a graph
// have elements of the carrier instead; weights are converted at compile time, and inputs and
// outputs in the program (builder/small_values.h).
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "runtime/tensor/small_type.h"

namespace scopevm::compiler::frontend {

using runtime::SmallType;

// By value; null: none.
using SmallTypes = llvm::SmallVector<const SmallType*>;

// The type of a TensorProto.DataType. Null if it is not small.
const SmallType* small_type(int onnx_code);

}  // namespace scopevm::compiler::frontend
