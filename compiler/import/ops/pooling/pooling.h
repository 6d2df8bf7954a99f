// The pools of a node, for variants of AveragePool and MaxPool.
#pragma once

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// The pool of x: [n, c, spatial...] with the attributes of the node.
Value average_pool_of(Node& n, Value x);
Value max_pool_of(Node& n, Value x);

}  // namespace scopevm::compiler::frontend
