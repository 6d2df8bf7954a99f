// Ops that select the best elements along an axis, such as the most likely tokens of a vocabulary:
// ranks select from their parts of the axis, and then from the elements that all have selected.
#pragma once

#include <optional>

#include "compiler/split/tensor/form.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::split {

// Of top_k, arg_max and arg_min. They order elements by value and, if values are equal, by index.
// Hence they select the same elements from an axis as from the elements that they have selected
// from its consecutive parts, in the order of the parts.
struct Selection {
  int64_t axis = 0;
  int64_t count = 0;  // of the elements that are selected along the axis
};
// Empty for other ops, and if the count is not a number above 0.
std::optional<Selection> selection_of(mlir::Operation* op);

// Elements selected from a part of the axis, in their order, and their indices in the whole axis.
// Both have the axis.
struct Selected {
  mlir::Value values, indices;
};

// What `op` selects from a part that begins at index `start` of the axis, and has at least as many
// elements.
mlir::FailureOr<Selected> select_from_part(mlir::OpBuilder& builder, mlir::Operation* op,
                                           mlir::Value part, int64_t start);
// The results of `op`, from the elements selected from all parts.
mlir::FailureOr<llvm::SmallVector<mlir::Value, 2>> select_from_selected(
    mlir::OpBuilder& builder, mlir::Operation* op, llvm::ArrayRef<Selected> parts);

// The seconds of the second selection: of the messages, and of the work of a rank.
double seconds_to_merge(mlir::Operation* op, const Group& group);

}  // namespace scopevm::compiler::split
