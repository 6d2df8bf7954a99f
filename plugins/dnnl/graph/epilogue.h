// The ops after a matrix product or convolution that oneDNN computes as its epilogue: additions of
// a bias and a residual, then activations. layer.h holds the op before them.
#pragma once

#include <dnnl.hpp>
#include <optional>
#include <vector>

#include "plugins/dnnl/graph/description.h"

namespace scopevm::onednn {

// An elementwise function of oneDNN ("Eltwise" in its developer guide).
struct Activation {
  dnnl::algorithm algorithm;
  float alpha;
  float beta;
};

struct Epilogue {
  std::optional<size_t> bias;      // operand with one element per channel
  std::optional<size_t> residual;  // operand with the dims of the result
  std::vector<Activation> activations;
};

// Parses the ops after op `main`, which computes the result of the function from its value.
// `channel_axis` is the dim of the result that the bias has. `epilogue` already contains the bias
// if it is an operand of `main`. Fails with kUnsupported.
Status parse_epilogue(const Description& description, size_t main, size_t channel_axis,
                      Epilogue& epilogue);

}  // namespace scopevm::onednn
