// Times functions in turn; see interleaved.h.
#include "bench/kernels/interleaved.h"

#include <algorithm>
#include <ctime>

#include "tools/machine_peak/machine_peak.h"

namespace scopevm::compiler::bench {
namespace {

// CPU time of this thread, so that the time of other processes is not counted.
double seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

constexpr int64_t kPeakRounds = 20'000;

}  // namespace

const double kPeakGflop = 1e-9 * machine_peak::peak_flops(kPeakRounds);
void peak_work() { machine_peak::run_peak(kPeakRounds); }

std::vector<double> medians(const std::vector<Work>& works, const Rounds& rounds) {
  std::vector<std::vector<double>> times(works.size());
  std::vector<int> repeats;
  for (const Work& work : works) {
    work();
    double start = seconds();
    work();
    const double once = std::max(seconds() - start, 1e-7);
    repeats.push_back(std::max(1, static_cast<int>(rounds.seconds / once)));
  }
  for (int round = 0; round < rounds.count; ++round)
    for (size_t i = 0; i < works.size(); ++i) {
      double start = seconds();
      for (int repeat = 0; repeat < repeats[i]; ++repeat) works[i]();
      times[i].push_back((seconds() - start) / repeats[i]);
    }
  std::vector<double> result;
  for (std::vector<double>& t : times) {
    std::nth_element(t.begin(), t.begin() + t.size() / 2, t.end());
    result.push_back(t[t.size() / 2]);
  }
  return result;
}

std::vector<float> filled(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 13) * 0.1f - 0.6f;
  return values;
}

}  // namespace scopevm::compiler::bench
