// The bytes of an elements attribute of any kind: dense, splat or resource.
#pragma once

#include <optional>

#include "compiler/program/program.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace scopevm::compiler::graph {

// The element type that an element type of MLIR represents, if there is one.
std::optional<DType> dtype_of(mlir::Type element);

// Describes why the attribute cannot be a constant: it is neither dense nor a resource, it has more
// than 2^40 elements, or the resource does not contain exactly its elements as numbers. Empty if it
// can be a constant, which the functions below and ConstantArray require.
std::string error_of_elements(mlir::ElementsAttr elements);

// The attribute of an argument of main with its value in calls that do not set it.
inline constexpr char kDefaultAttribute[] = "sv.default";

// Describes why the attribute cannot be the default of an argument of type `argument`: it is not a
// constant with the element type and rank of the argument, and its dims where these are numbers.
// That of a small type has elements of the carrier (runtime/tensor/small_type.h). Strings have no
// default. Empty if it can be.
std::string error_of_default(mlir::Type argument, mlir::Attribute value);

// The attribute as a Program constant of `dtype`: raw row-major bytes, bool as one byte each,
// splats expanded. For a small type, the elements are those of its carrier. The bytes are shared
// with the attribute if its layout allows, and then stay valid as long as the MLIR context.
// REQUIRES: `dtype` is not str.
Constant constant_of_elements(mlir::ElementsAttr elements, DType dtype);

// The bytes of one element (at most 8), if all elements are equal. Empty for empty tensors and
// string tensors.
std::optional<uint64_t> splat_bits(mlir::ElementsAttr elements, DType dtype);
// The same for the elements of an sv.constant. Empty for other ops, and for null.
std::optional<uint64_t> splat_bits(mlir::Operation* op);

}  // namespace scopevm::compiler::graph
