#include "tools/serve/model/batch_size.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace scopevm::serve {
namespace {

constexpr int64_t kExplorePeriod = 32;  // calls
constexpr double kWeight = 0.3;         // of a new time in the mean
// A larger call with this time of a row is as good: it also saves the cost of a call.
constexpr double kTolerance = 1.05;

}  // namespace

size_t BatchSize::class_of(int64_t rows) {
  return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(rows))) - 1;
}

std::optional<size_t> BatchSize::not_measured(size_t last) const {
  for (size_t i = last + 1; i-- > 0;)
    if (byte_ns_[i] == 0) return i;
  return std::nullopt;
}

size_t BatchSize::best(size_t last) const {
  const double least = *std::min_element(byte_ns_.begin(), byte_ns_.begin() + last + 1);
  while (byte_ns_[last] > least * kTolerance) --last;
  return last;
}

int64_t BatchSize::next(int64_t waiting) {
  const size_t last = class_of(std::clamp<int64_t>(waiting, 1, most_));
  const bool explores = ++calls_ % kExplorePeriod == 0;
  const size_t known = explores ? ++explored_ % (last + 1) : best(last);
  return std::min(most_, (int64_t{2} << not_measured(last).value_or(known)) - 1);
}

void BatchSize::add(int64_t rows, int64_t bytes, int64_t nanoseconds) {
  if (rows < 1 || bytes < 1 || nanoseconds < 1) return;
  double& mean = byte_ns_[std::min(class_of(rows), byte_ns_.size() - 1)];
  const double time = static_cast<double>(nanoseconds) / static_cast<double>(bytes);
  mean = mean == 0 ? time : mean + kWeight * (time - mean);
}

}  // namespace scopevm::serve
