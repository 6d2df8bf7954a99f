// Tuples in the graph: generated definitions, type inference, and the leaves of tuple types.
#include "compiler/graph/control/tuples.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "runtime/count_text.h"

// Included last: the generated definitions use the declarations above.
#define GET_OP_CLASSES
#include "compiler/graph/control/tuples.cpp.inc"

namespace scopevm::compiler::graph {

llvm::LogicalResult TupleGetOp::inferReturnTypes(
    mlir::MLIRContext*, std::optional<mlir::Location> location, mlir::ValueRange operands,
    mlir::DictionaryAttr attributes, mlir::OpaqueProperties properties, mlir::RegionRange regions,
    llvm::SmallVectorImpl<mlir::Type>& types) {
  Adaptor op(operands, attributes, properties, regions);
  auto tuple = mlir::cast<mlir::TupleType>(op.getTuple().getType());
  const int64_t index = static_cast<int64_t>(op.getIndex());
  if (index < 0 || index >= static_cast<int64_t>(tuple.size()))
    return mlir::emitOptionalError(location, "tuple_get: index ", index,
                                   " is out of range for a tuple of ",
                                   runtime::count_text(tuple.size(), "element"));
  types.push_back(tuple.getType(static_cast<size_t>(index)));
  return mlir::success();
}

llvm::SmallVector<mlir::Type> leaves_of(mlir::TypeRange types) {
  llvm::SmallVector<mlir::Type> leaves;
  for (mlir::Type type : types)
    if (auto tuple = mlir::dyn_cast<mlir::TupleType>(type))
      tuple.getFlattenedTypes(leaves);
    else
      leaves.push_back(type);
  return leaves;
}

std::optional<TypePairs> pair_leaves(mlir::TypeRange a, mlir::TypeRange b) {
  if (a.size() != b.size()) return std::nullopt;
  TypePairs pairs;
  for (auto [x, y] : llvm::zip(a, b)) {
    auto first = mlir::dyn_cast<mlir::TupleType>(x), second = mlir::dyn_cast<mlir::TupleType>(y);
    if (!first || !second) {
      pairs.emplace_back(x, y);
      continue;
    }
    const std::optional<TypePairs> inner = pair_leaves(first.getTypes(), second.getTypes());
    if (!inner) return std::nullopt;
    pairs.append(*inner);
  }
  return pairs;
}

}  // namespace scopevm::compiler::graph
