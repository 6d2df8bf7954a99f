// The ops that change how the ranks of a tensor split hold a value.
#pragma once

#include "compiler/split/tensor/form.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::split {

// Of a whole value one, of other forms one for each rank.
using Parts = llvm::SmallVector<mlir::Value, 4>;

// The part of the whole value `x` that a rank has. REQUIRES: kDivided.
mlir::Value part_of(mlir::OpBuilder& builder, mlir::Value x, const Form& form, int rank, int ranks);
// The whole value, from the parts of all ranks. Partial ones are combined in the order of the
// ranks, so that all ranks have equal results. REQUIRES: kDivided or kPartial.
mlir::Value whole_of(mlir::OpBuilder& builder, llvm::ArrayRef<mlir::Value> parts, const Form& form);

}  // namespace scopevm::compiler::split
