// The outputs of ONNX ops with subgraphs.
#pragma once

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// The outputs of a node with subgraphs. The node fails if the results are an error, or if their
// number differs from that of the node's outputs.
Values subgraph_results(Node& n, Result<llvm::SmallVector<Value>> results);

}  // namespace scopevm::compiler::frontend
