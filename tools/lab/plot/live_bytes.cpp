// Keeps the largest sum of each interval; see live_bytes.h.
#include "tools/lab/plot/live_bytes.h"

#include <algorithm>

namespace scopevm::lab {
namespace {

// More than the pixels of a wide screen.
constexpr size_t kSamples = 2000;

}  // namespace

LiveBytes::LiveBytes(History& history) : history_(history) {
  live_.by_scope.resize(history.scopes().size());
  history_.scope_peaks.assign(history.scopes().size(), 0);
  // An interval of a plan is at least one step.
  const uint64_t length = std::max<uint64_t>(1, history.end - history.begin);
  history_.samples.assign(std::min<uint64_t>(kSamples, length), live_);
}

void LiveBytes::advance(size_t sample) {
  // The bytes at the start of an interval are those at the end of the previous one.
  while (sample_ < sample) history_.samples[++sample_] = live_;
}

void LiveBytes::add(uint64_t time, uint64_t event, uint32_t scope, int64_t change) {
  const double position = static_cast<double>(time - history_.begin) /
                          static_cast<double>(std::max<uint64_t>(1, history_.end - history_.begin));
  const auto sample = static_cast<size_t>(position * static_cast<double>(history_.samples.size()));
  advance(std::min(sample, history_.samples.size() - 1));
  live_.total += static_cast<uint64_t>(change);
  live_.by_scope[scope] += static_cast<uint64_t>(change);
  history_.scope_peaks[scope] = std::max(history_.scope_peaks[scope], live_.by_scope[scope]);
  if (live_.total > history_.samples[sample_].total) history_.samples[sample_] = live_;
  if (live_.total <= history_.peak_bytes) return;
  history_.peak_bytes = live_.total;
  history_.peak_time = time;
  history_.peak_event = event;
}

void LiveBytes::finish() { advance(history_.samples.size() - 1); }

}  // namespace scopevm::lab
