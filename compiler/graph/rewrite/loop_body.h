// Queries about regions and loops, and rewrites of loop bodies.
#pragma once

#include <set>
#include <string>

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

// Symbols that ops in the region define.
std::set<std::string> symbols_defined_in(mlir::Region& region);
// Symbols that ops in the body define, the index, and the carried symbols.
std::set<std::string> symbols_defined_in(LoopOp loop);
// Symbols that the results of an sv.if or sv.loop define; none for other ops.
std::set<std::string> result_symbols(mlir::Operation* op);

// True if a dim of a tensor result, or a dim in an attribute of `op`, contains one of the symbols.
bool mentions(mlir::Operation* op, const std::set<std::string>& symbols);

bool is_outside(mlir::Value value, LoopOp loop);

// Removes the sv.require ops of kind at_least from the body if they provably hold in every
// iteration. Returns true if it removed any.
bool drop_checks(LoopOp loop);

}  // namespace scopevm::compiler::graph
