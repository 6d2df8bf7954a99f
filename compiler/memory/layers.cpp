// Derives the vertical order of buffers from their offsets at given dims, and offsets at any dims
// from that order.
#include <algorithm>
#include <numeric>

#include "compiler/memory/plan.h"

namespace scopevm::compiler::memory {

// Of two buffers at one offset, the empty one is the lower. `below` is reduced transitively: it
// omits a buffer that is below another member of `below`, since its end cannot be the largest.
Layers layers_of(const std::vector<PlannedBuffer>& buffers) {
  Layers layers;
  layers.order.resize(buffers.size());
  std::iota(layers.order.begin(), layers.order.end(), 0);
  std::stable_sort(layers.order.begin(), layers.order.end(), [&](int a, int b) {
    const PlannedBuffer &x = buffers[a], &y = buffers[b];
    return x.offset != y.offset ? x.offset < y.offset : x.size < y.size;
  });
  layers.below.resize(buffers.size());
  auto conflict = [&](int a, int b) {
    return buffers[a].lower < buffers[b].upper && buffers[b].lower < buffers[a].upper;
  };
  for (size_t i = 0; i < buffers.size(); ++i) {
    int buffer = layers.order[i];
    std::vector<int>& below = layers.below[buffer];
    // From the top down, so that the nearest buffers below come first and make the ones under them
    // redundant.
    for (size_t j = i; j-- > 0;) {
      int other = layers.order[j];
      if (conflict(buffer, other) &&
          std::none_of(below.begin(), below.end(), [&](int b) { return conflict(b, other); }))
        below.push_back(other);
    }
  }
  return layers;
}

void place_by_layers(const Layers& layers, std::vector<PlannedBuffer>& buffers) {
  for (int buffer : layers.order) {
    int64_t offset = 0;
    for (int other : layers.below[buffer])
      offset = std::max(offset, *buffers[other].offset + buffers[other].size);
    buffers[buffer].offset = offset;
  }
}

}  // namespace scopevm::compiler::memory
