// The inputs of ONNX sequence ops.
#pragma once

#include "compiler/frontend/node/node.h"

namespace scopevm::compiler::frontend {

// Input 0, a sequence. Null after an error.
Value input_sequence(Node& n);

}  // namespace scopevm::compiler::frontend
