// Generated planning instances. Equal arguments give equal instances.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scopevm/plan.h"

namespace scopevm::bench {

// A chain of layers whose results are read by the next layer, and some by later layers (skip
// connections), with scratch memory. Sizes are log-uniform from 1 KiB to 4 MiB.
plan::Problem inference_instance(size_t buffers, uint64_t seed);

// A chain of layers whose sizes shrink from the first to the last, as in convolutional networks.
plan::Problem shrinking_instance(size_t buffers, uint64_t seed);

// One step of training: activations live from their forward to their backward step, gradients of
// activations for two steps, gradients of weights until the end, and scratch memory.
plan::Problem training_instance(size_t buffers, uint64_t seed);

// Lifespans of all lengths at random times: harder than models, because nothing repeats.
plan::Problem random_instance(size_t buffers, uint64_t seed);

// Many small buffers between a few large ones with long lifespans, in the order that makes first
// fit by size leave gaps.
plan::Problem interleaved_instance(size_t buffers, uint64_t seed);

struct Generator {
  std::string name;
  plan::Problem (*generate)(size_t buffers, uint64_t seed);
};
std::vector<Generator> generators();

// The height of first fit in the order of decreasing size, the usual baseline. O(n^2) time.
int64_t greedy_by_size_height(const plan::Problem& problem);

}  // namespace scopevm::bench
