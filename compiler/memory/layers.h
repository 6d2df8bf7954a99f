// The part of a plan that is independent of sizes. A Problem of libscopevm_plan (scopevm/plan.h)
// has the lifespans of an arena's buffers; their sizes at given dims are a vector of their own.
// Private to compiler/memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scopevm/plan.h"

namespace scopevm::compiler::memory {

// The order of offsets, and the buffers directly below each buffer. If the lifespans of two buffers
// overlap, one of the two is above the other at all sizes.
struct Layers {
  std::vector<int> order;               // lower offsets first
  std::vector<std::vector<int>> below;  // by buffer
};

// REQUIRES: `plan` is a valid plan of the problem, and each buffer has one lifespan.
Layers layers_of(const plan::Problem& problem, const plan::Plan& plan);

// Offsets by layers: the largest end of the buffers below (a longest path in the graph of `below`).
std::vector<int64_t> place_by_layers(const Layers& layers, std::span<const int64_t> sizes);

// Chooses layers that fit all samples, each of which is the sizes of the problem's buffers. The
// first of the results has the least sum of ratios of height to lower bound over the samples. If
// its height exceeds 1.02 of the lower bound at a sample, other layers follow, and the lowest of
// all plans is to be used. The sizes of the problem's buffers are overwritten. Errors: those of
// plan::solve().
Result<std::vector<Layers>> choose_layers(plan::Problem& problem,
                                          const std::vector<std::vector<int64_t>>& samples);

}  // namespace scopevm::compiler::memory
