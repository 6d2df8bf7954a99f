// Divides requests along batch dims: the parts of a request have the same rows of the results.
#pragma once

#include <vector>

#include "scopevm/module.h"
#include "tests/property/random/random_graph.h"

namespace scopevm::compiler::property {

// A request, and the results that are expected of it.
struct Expectation {
  Request request;
  Arrays results;
};

// For each batch dim of at least 2 elements, the two parts into which it is divided. REQUIRES: the
// request is one of the module.
std::vector<Expectation> parts_of(const Expectation& whole, const Signature& signature);

}  // namespace scopevm::compiler::property
