// The graph dialect `sv` in C++: types, attributes and op classes, generated from graph_dialect.td
// and graph_ops.td. Every MLIR-side file of the compiler that looks at the graph includes this one.
#pragma once

#include "compiler/shapes/dim_expr.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "scopevm/dtype.h"
#include "scopevm/value_kind.h"

namespace scopevm::compiler::graph {

// What a list's type says of the dims of its elements.
enum class ElementDims : uint8_t {
  kNone,   // there are no elements
  kShape,  // all have this many
  kAny,
};

// In the type of a list: a dim that may differ from element to element.
inline constexpr int64_t kAnyDim = -1;

}  // namespace scopevm::compiler::graph

// The generated declarations use the headers above.
#include "compiler/graph/graph_dialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/graph/graph_attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/graph/graph_types.h.inc"

#define GET_OP_CLASSES
#include "compiler/graph/graph_ops.h.inc"
