// The ways in which the ranks of a tensor split can share the work of an op.
#pragma once

#include <vector>

#include "compiler/split/tensor/borders.h"
#include "compiler/split/tensor/form.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace scopevm::compiler::split {

// The forms that an op reads and makes.
struct Way {
  llvm::SmallVector<Form, 4> operands;
  llvm::SmallVector<Form, 2> results;
  // The ranks select from parts of an axis. The results, on one rank or on all, are selected from
  // what all ranks have selected (selection.h).
  bool is_merged = false;

  // Each rank runs the op, on parts of the operands or on all of them.
  bool is_on_all_ranks() const {
    return is_merged || (!results.empty() && !results.front().is(Form::Kind::kWhole));
  }
  // Each rank does a part of the work.
  bool divides() const {
    return is_merged || (is_on_all_ranks() && !results.front().is(Form::Kind::kReplicated));
  }
};

// The forms that a value has.
using FormsOf = llvm::function_ref<llvm::ArrayRef<Form>(mlir::Value)>;

// All ways of an op. The first one is to run once. If there are ways that divide all operands in
// `weights`, only these are returned.
std::vector<Way> ways_of(mlir::Operation* op, FormsOf forms_of, const Borders& borders,
                         const llvm::DenseSet<mlir::Value>& weights, int ranks);

}  // namespace scopevm::compiler::split
