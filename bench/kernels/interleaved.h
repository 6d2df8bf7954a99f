// Times of functions that run in turn, so that load on the machine slows all of them alike.
#pragma once

#include <functional>
#include <vector>

namespace scopevm::compiler::bench {

using Work = std::function<void()>;

struct Rounds {
  int count = 31;
  double seconds = 2e-3;  // of each function in a round, about
};

// The median time of one call of each function, in seconds of CPU time of this thread. Each round
// times all functions, each over enough calls to take `rounds.seconds`.
std::vector<double> medians(const std::vector<Work>& works, const Rounds& rounds = {});

// The peak of one core: multiply-adds on registers only. Comparisons with the peak time this
// function in the same rounds.
void peak_work();
extern const double kPeakGflop;  // of one call, in 1e9 operations

// `count` numbers in [-0.6, 0.6].
std::vector<float> filled(size_t count);

}  // namespace scopevm::compiler::bench
