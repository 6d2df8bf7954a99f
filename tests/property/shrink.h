// Shrinks a failing graph while it still fails in the same way. Removes outputs, requests and ops,
// and replaces symbols by numbers. Replaces computed values by inputs with the elements that the
// reference computes.
#pragma once

#include <functional>

#include "tests/property/check/check_graph.h"

namespace scopevm::compiler::property {

using Check = std::function<Verdict(const GraphCase&)>;

struct Shrunk {
  GraphCase graph;
  Verdict verdict;
  int checks = 0;
};

// `verdict` is the result of check(graph). Stops after `most_checks` checks.
Shrunk shrink(const GraphCase& graph, const Verdict& verdict, const Check& check,
              int most_checks = 300);

// The graph's assembly, its requests (symbols, and at most 64 elements of each input), and the
// verdict unless it is kAgrees.
std::string report(uint64_t seed, const GraphCase& graph, const Verdict& verdict);

}  // namespace scopevm::compiler::property
