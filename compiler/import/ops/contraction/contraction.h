// The product of a node, for variants of Gemm.
#pragma once

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// alpha * A' * B' + beta * C, where A' and B' are the inputs A and B, or their transposes.
Value gemm_of(Node& n);

}  // namespace scopevm::compiler::frontend
