// The activation functions of recurrent and fused ops.
#pragma once

#include "compiler/import/node/formula.h"

namespace scopevm::compiler::frontend {

struct Activation {
  std::string name;  // lower case
  float alpha = 0;
  float beta = 0;
};

// Reads the attributes `activations`, `activation_alpha` and `activation_beta`: for each direction,
// one function per entry of `otherwise`, which are the default functions. A function with
// parameters takes the next entries of the alpha and beta lists, or its default parameters after
// the end of a list. Fails the node if a function is unknown, or if their number is wrong.
llvm::SmallVector<Activation> read_activations(Node& n, llvm::ArrayRef<const char*> otherwise,
                                               size_t directions);

Value emit_activation(Node& n, const Activation& activation, Value x);

// The activation `name`, with the first of its parameters. The others have their default values.
// Fails the node if the function is unknown.
Activation activation_named(Node& n, llvm::StringRef name, llvm::ArrayRef<float> parameters);

// x * P(N <= x) for a standard normal variable N, and its approximation by tanh. Types other than
// f64 are computed in f32, in which the result remains.
Formula gelu(const Formula& x);
Formula gelu_by_tanh(const Formula& x);

}  // namespace scopevm::compiler::frontend
