// Values of small element types (model/small_types.h) and their bits.
#pragma once

#include "compiler/import/builder/graph_builder.h"
#include "compiler/import/model/small_types.h"

namespace scopevm::compiler::frontend {

// The bits of each element as u8. REQUIRES: the values have the carrier of `type`.
mlir::Value bits_of_small(GraphBuilder& builder, mlir::Value values, const SmallType& type);
// The inverse: elements of the carrier. REQUIRES: `bits` has u8 elements with the bits of `type`.
mlir::Value small_of_bits(GraphBuilder& builder, mlir::Value bits, const SmallType& type);

// An input or output of a small type, in which elements can share bytes, as elements of the
// carrier, and the inverse.
mlir::Value unpack_small(GraphBuilder& builder, mlir::Value packed, const SmallType& type);
mlir::Value pack_small(GraphBuilder& builder, mlir::Value values, const SmallType& type);

}  // namespace scopevm::compiler::frontend
