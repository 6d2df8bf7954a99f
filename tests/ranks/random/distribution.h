// Random distributions of a model over ranks: by a split, or by rules of placement.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/ranks/random/random.h"

namespace scopevm::ranks {

// Options of the compiler.
struct Distribution {
  std::string split, machine_json;
  std::vector<std::string> places;
};

// `caches`: the number of inputs past0, past1, ... and outputs present0, ...
Distribution random_distribution(Random& random, size_t caches);

}  // namespace scopevm::ranks
