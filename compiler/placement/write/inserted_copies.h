// The copies that apply() inserts into a graph. Private to compiler/placement.
#pragma once

#include <string>
#include <vector>

#include "compiler/placement/graph_problem.h"
#include "compiler/placement/why/copies.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::placement {

mlir::Value make_copy(mlir::OpBuilder& builder, mlir::Value value, graph::PlaceAttr place,
                      const CopyReason& reason);

class InsertedCopies {
 public:
  // Inserts a copy of `value` before the first of these uses, which then read the copy.
  mlir::Value insert(mlir::Value value, graph::PlaceAttr place, const CopyReason& reason,
                     const std::vector<Use>& uses);
  // Merges copies of one value to one place. Such duplicates arise when an sv.device_copy or
  // sv.on_device of the graph is erased: copies of its result become copies of its operand. The
  // result is the same as for a graph without the erased op.
  void merge(mlir::ModuleOp module);

 private:
  void arrange(mlir::ModuleOp module);
  void erase(size_t i);

  std::vector<mlir::Value> copies_;
};

}  // namespace scopevm::compiler::placement
