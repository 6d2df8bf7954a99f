// The inputs of ONNX sequence ops.
#pragma once

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// Input 0, a sequence. Null after an error.
Value input_sequence(Node& n);

}  // namespace scopevm::compiler::frontend
