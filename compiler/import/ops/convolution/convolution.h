// The convolution of a node, for variants of Conv.
#pragma once

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// The convolution of x: [n, c, spatial...] with the weights w: [m, c / group, kernel...], the bias
// at input 2, which is optional, and the attributes of Conv.
Value convolution_of(Node& n, Value x, Value w);

}  // namespace scopevm::compiler::frontend
