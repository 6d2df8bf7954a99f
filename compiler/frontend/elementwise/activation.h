// Activation functions as recurrent ops name them.
#pragma once

#include "compiler/frontend/node.h"

namespace scopevm::compiler::frontend {

struct Activation {
  std::string name;  // in lower case
  float alpha = 0;
  float beta = 0;
};

// The node's attributes `activations`, `activation_alpha` and `activation_beta`: one function for
// each of `otherwise`, which are those without the attribute, and each direction. A function that
// takes a number takes the next of its list; behind the end of the list it has its default.
// Fails the node when a function is unknown or missing.
llvm::SmallVector<Activation> read_activations(Node& n, llvm::ArrayRef<const char*> otherwise,
                                               size_t directions);

Value emit_activation(Node& n, const Activation& activation, Value x);

}  // namespace scopevm::compiler::frontend
