// The graph dialect `sv` in C++: types, attributes, op interfaces and op classes, generated from
// graph_dialect.td, op_interfaces.td and graph_ops.td. Every source of the compiler that uses
// the graph includes this header.
#pragma once

#include <optional>
#include <vector>

#include "compiler/dims/dim_expr.h"
#include "compiler/graph/arithmetic/scalar.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "scopevm/dtype.h"
#include "scopevm/value_kind.h"

namespace scopevm::compiler::kernels {
class LoweringContext;
}

namespace scopevm::compiler::graph {

class RequestChecks;
class SymbolicValues;
struct TypeRule;

// How much a list type specifies about the dims of its elements.
enum class ElementDims : uint8_t {
  kNone,   // the list has no elements
  kShape,  // all elements have the rank of the type's shape
  kAny,    // the ranks of the elements may differ
};

// Denotes a dim of a list type that may differ between elements.
inline constexpr int64_t kAnyDim = -1;

// The associative operator of a reduction.
enum class Combine : uint8_t { kSum, kProduct, kMax, kMin };

// The default CostOp implementation, for families without a formula. flops_of() uses the op's other
// interfaces, and returns 0 for an op without them.
DimExpr flops_of(mlir::Operation* op);
DimExpr bytes_of(mlir::Operation* op);

// Partition of the axes of a contraction's result: [0, rows) is the batch, [rows, columns) the
// rows, and [columns, rank) the columns. Rows and columns are one loop each, for any number of
// axes.
struct OutputAxes {
  int64_t rows = 0;
  int64_t columns = 0;
};

// One axis of each operand and result of an op, along which the op computes parts independently. If
// these axes are divided into the same number of equal parts, part i of every result is a function
// of the parts i of the operands and of whole operands. The function is the same for all i and all
// numbers of parts.
struct ParallelAxis {
  static constexpr int64_t kWhole = -1;  // every part depends on all elements
  llvm::SmallVector<int64_t, 4> operands;
  llvm::SmallVector<int64_t, 2> results;
};
using ParallelAxes = llvm::SmallVector<ParallelAxis, 4>;

// Returns a contraction and the ops that can be its epilogue, in program order.
using WithEpilogue = llvm::function_ref<llvm::SmallVector<mlir::Operation*>(mlir::Operation*)>;

template <typename Op>
class HasIsolatedBody : public mlir::OpTrait::TraitBase<Op, HasIsolatedBody> {};
template <typename Op>
class ProvidesStorage : public mlir::OpTrait::TraitBase<Op, ProvidesStorage> {};

}  // namespace scopevm::compiler::graph

// The generated declarations use the headers above, and each other in this order.
#include "compiler/graph/graph_dialect.h.inc"
#include "compiler/graph/graph_enums.h.inc"
#include "compiler/graph/op_interfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/graph/graph_attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/graph/graph_types.h.inc"

#define GET_OP_CLASSES
#include "compiler/graph/graph_ops.h.inc"

namespace scopevm::compiler::graph {

// The type of a value that is a tensor.
inline TensorType type_of(mlir::Value value) { return mlir::cast<TensorType>(value.getType()); }

}  // namespace scopevm::compiler::graph
