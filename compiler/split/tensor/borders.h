// The positions at which ops divide the axes of values.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "compiler/split/tensor/form.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Block.h"

namespace scopevm::compiler::split {

// For instance, slices take queries, keys and values from one product, so that its columns have two
// borders.
class Borders {
 public:
  explicit Borders(mlir::Block& block);

  // The axis of `size` elements in one segment, and in those between its borders if it has any.
  std::vector<Form::Segments> segments(mlir::Value value, int64_t axis, int64_t size) const;

 private:
  using Positions = std::set<int64_t>;

  // Adds the borders of the op's operands that follow from those of its results.
  void visit(mlir::Operation* op);
  Positions of(mlir::Value value, int64_t axis) const;

  llvm::DenseMap<mlir::Value, std::map<int64_t, Positions>> positions_;
};

}  // namespace scopevm::compiler::split
