// Chooses how the ranks of a tensor split share the work of a block: the body of a function or a
// region in it.
#pragma once

#include <vector>

#include "compiler/split/tensor/form.h"
#include "compiler/split/tensor/ways.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler::split {

// The constants of `function` that are to be divided: all but masks, and the smallest ones, which
// have at most 2 % of a rank's share of the bytes together.
llvm::DenseSet<mlir::Value> weights_of(mlir::func::FuncOp function, int ranks);

// The forms of arguments and results of a block that are not whole.
struct BlockForms {
  llvm::DenseMap<mlir::Value, Form> arguments;
  llvm::DenseMap<unsigned, Form> results;  // by operand of the terminator
};

// A way for each op of `block`, in program order, that together take the least seconds: of the work
// of a rank, and of the messages that change forms. Arguments and results have the given forms.
// Values from outside and what ops with regions use are whole. `weights` are divided wherever an op
// can read parts of them.
//
// Dynamic programming over the ops, whose states are the forms of the values that later ops read.
// The result is the least if there are never more than 256 such states; otherwise those that took
// more until then are dropped.
std::vector<Way> choose_ways(mlir::Block& block, const llvm::DenseSet<mlir::Value>& weights,
                             const Group& group, const BlockForms& given = BlockForms());

}  // namespace scopevm::compiler::split
