// Derives the vertical order of buffers from their offsets at given dims, and offsets at any dims
// from that order.
#include "compiler/memory/layers.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace scopevm::compiler::memory {

// Of two buffers at one offset, the empty one is the lower. `below` is reduced transitively: it
// omits a buffer that is below another member of `below`, since its end cannot be the largest.
Layers layers_of(const plan::Problem& problem, const plan::Plan& plan) {
  Layers layers;
  layers.order.resize(problem.buffers.size());
  std::iota(layers.order.begin(), layers.order.end(), 0);
  std::ranges::stable_sort(layers.order, {}, [&](int i) {
    return std::tuple(plan.offsets[i], problem.buffers[i].size);
  });
  layers.below.resize(problem.buffers.size());
  const auto conflict = [&](int a, int b) {
    const plan::Lifespan &x = problem.buffers[a].lifespans.front(),
                         &y = problem.buffers[b].lifespans.front();
    return x.lower < y.upper && y.lower < x.upper;
  };
  for (size_t i = 0; i < layers.order.size(); ++i) {
    const int buffer = layers.order[i];
    std::vector<int>& below = layers.below[buffer];
    // From the top down, so that the nearest buffers below come first and make the ones under them
    // redundant.
    for (size_t j = i; j-- > 0;) {
      const int other = layers.order[j];
      if (conflict(buffer, other) &&
          std::ranges::none_of(below, [&](int b) { return conflict(b, other); }))
        below.push_back(other);
    }
  }
  return layers;
}

std::vector<int64_t> place_by_layers(const Layers& layers, std::span<const int64_t> sizes) {
  std::vector<int64_t> offsets(sizes.size());
  for (const int buffer : layers.order)
    for (const int other : layers.below[buffer])
      offsets[buffer] = std::max(offsets[buffer], offsets[other] + sizes[other]);
  return offsets;
}

}  // namespace scopevm::compiler::memory
