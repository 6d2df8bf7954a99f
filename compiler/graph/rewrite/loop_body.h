// What one asks about regions, and passes over loops about a loop's body.
#pragma once

#include <set>
#include <string>

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

// Symbols that ops of the region bring into being.
std::set<std::string> symbols_born_in(mlir::Region& region);
// Symbols that are known only inside of the loop.
std::set<std::string> symbols_born_in(LoopOp loop);

// True when a result type or an attribute of `op` has one of the symbols.
bool mentions(mlir::Operation* op, const std::set<std::string>& symbols);

bool is_outside(mlir::Value value, LoopOp loop);

// The least value of `e` over the iterations of the loops around `op`, where it falls steadily with
// their counts: a slice at the count, of an input that is as long as the loop, stays inside.
DimExpr at_last_iteration(DimExpr e, mlir::Operation* op);

// Removes the sv.require ops of the body that hold in every iteration. True if there were any.
bool drop_checks(LoopOp loop);

}  // namespace scopevm::compiler::graph
