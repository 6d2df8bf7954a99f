// The sv.on_device ops of a graph, and which of them are copies. Private to compiler/placement.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/placement/place.h"
#include "llvm/ADT/DenseSet.h"

namespace scopevm::compiler::placement {

class Annotations {
 public:
  // Finds the annotations that are copies: annotations whose place cannot be joined with the places
  // of inner annotations, or with the host if the VM makes the annotated value. If an inner
  // annotation constrains the readers, the outer one is not a copy.
  Annotations(mlir::ModuleOp module, const Machine& machine);

  bool is_copy(graph::OnDeviceOp annotation) const { return copies_.contains(annotation); }
  // The value that a chain of annotations constrains: the operand of the innermost one, or the
  // result of the first one that is a copy. Returns any other value unchanged.
  mlir::Value annotated(mlir::Value value) const;

 private:
  // Whether an annotation constrains the readers of `value`. An outer annotation counts as a
  // reader: a different place then conflicts instead of being a copy.
  bool constrains_readers(mlir::Value value) const;

  llvm::DenseSet<mlir::Operation*> copies_;
};

// The place of the values that the VM makes.
RequiredPlace place_of_vm(const Machine& machine);

}  // namespace scopevm::compiler::placement
