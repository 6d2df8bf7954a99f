// Makes a failing graph small while it still fails in the same way: fewer outputs, values cut off
// from what made them (they become inputs with the reference's elements), ops bypassed, one
// request, numbers for symbols.
#pragma once

#include <functional>

#include "tests/property/check_graph.h"

namespace scopevm::compiler::property {

using Check = std::function<Verdict(const GraphCase&)>;

struct Shrunk {
  GraphCase graph;
  Verdict verdict;
  int checks = 0;
};

// `verdict` is check(graph)'s. Stops after `most_checks`.
Shrunk shrink(const GraphCase& graph, const Verdict& verdict, const Check& check,
              int most_checks = 300);

// The graph's text, its requests (symbols, and the elements of small inputs), and the verdict.
std::string report(uint64_t seed, const GraphCase& graph, const Verdict& verdict);

}  // namespace scopevm::compiler::property
