// Quantiles and histograms; see latency.h.
#include "tools/scopevm/commands/run/latency.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace scopevm::tool {
namespace {

constexpr double kBins = 16;
constexpr double kMostSpread = 4;  // of the bins, in differences between minimum and p90

// The smallest of 1, 2, 5, 10, ... times a power of ten that is not below `least`.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least) return factor * power;
  return 10 * power;
}

}  // namespace

Latency::Latency(std::vector<int64_t> latencies) : sorted_(std::move(latencies)) {
  std::ranges::sort(sorted_);
}

double Latency::median_us() const {
  const size_t count = sorted_.size();
  return count % 2 == 1 ? at(count / 2) : (at(count / 2 - 1) + at(count / 2)) / 2;
}

double Latency::mean_us() const {
  const double sum = std::accumulate(sorted_.begin(), sorted_.end(), 0.0);
  return sum / static_cast<double>(sorted_.size()) / 1e3;
}

double Latency::quantile_us(double part) const {
  const double rank = std::ceil(static_cast<double>(sorted_.size()) * part);
  return at(static_cast<size_t>(std::max(rank, 1.0)) - 1);
}

std::vector<Latency::Bin> Latency::histogram() const {
  // A few slow requests must not leave one bin for all others.
  const double most =
      std::min(quantile_us(0.99), min_us() + kMostSpread * (quantile_us(0.9) - min_us()));
  const double step = round_step(std::max((most - min_us()) / kBins, 1e-3));
  std::vector<Bin> bins;
  for (double begin = std::floor(min_us() / step); begin * step <= most; ++begin)
    bins.push_back({begin * step, (begin + 1) * step, 0});
  if (max_us() >= bins.back().end_us)
    bins.push_back({bins.back().end_us, std::numeric_limits<double>::infinity(), 0});
  size_t bin = 0;
  for (size_t i = 0; i < sorted_.size(); ++i) {
    while (at(i) >= bins[bin].end_us) ++bin;
    ++bins[bin].count;
  }
  return bins;
}

}  // namespace scopevm::tool
