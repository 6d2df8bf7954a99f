// Dynamic programming over the number of stages and the first op after them, once for each
// criterion; the earlier ones are then limits.
#include "compiler/split/pipeline/divide.h"

#include <algorithm>
#include <limits>
#include <set>

namespace scopevm::compiler::split {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kTolerance = 1.05;

// The cost of the stage of ops [first, last); infinite if it is not permitted.
class Stages {
 public:
  Stages(const std::vector<Work>& ops, const std::vector<double>& weight_bytes)
      : ops_(ops), count_(ops.size()), bytes_(count_ * (count_ + 1)), seconds_(count_ + 1, 0) {
    for (size_t first = 0; first < count_; ++first) {
      std::set<size_t> read;
      double bytes = 0;
      for (size_t last = first; last < count_; ++last) {
        for (const size_t weight : ops[last].weights)
          if (read.insert(weight).second) bytes += weight_bytes[weight];
        bytes_[first * (count_ + 1) + last + 1] = bytes;
      }
    }
    for (size_t i = 0; i < count_; ++i) seconds_[i + 1] = seconds_[i] + ops[i].seconds;
  }

  size_t count() const { return count_; }
  double bytes(size_t first, size_t last) const { return bytes_[first * (count_ + 1) + last]; }
  double seconds(size_t first, size_t last) const {
    return seconds_[last] - seconds_[first] + (first == 0 ? 0 : ops_[first].seconds_before);
  }

 private:
  const std::vector<Work>& ops_;
  size_t count_;
  std::vector<double> bytes_;
  std::vector<double> seconds_;  // of the ops before
};

struct Division {
  double cost = kNever;
  std::vector<size_t> firsts;
};

// The division with the least cost: `add` combines the cost of the stages before with that of ops
// [first, last).
template <typename Add>
Division least(size_t count, size_t stages, const Add& add) {
  std::vector<std::vector<double>> cost(stages + 1, std::vector<double>(count + 1, kNever));
  std::vector<std::vector<size_t>> first_of(stages + 1, std::vector<size_t>(count + 1, 0));
  cost[0][0] = 0;
  for (size_t stage = 1; stage <= stages; ++stage)
    for (size_t last = stage; last <= count; ++last)
      for (size_t first = stage - 1; first < last; ++first) {
        if (cost[stage - 1][first] == kNever) continue;
        const double sum = add(cost[stage - 1][first], first, last);
        if (sum >= cost[stage][last]) continue;
        cost[stage][last] = sum;
        first_of[stage][last] = first;
      }
  Division division{cost[stages][count], std::vector<size_t>(stages)};
  for (size_t stage = stages, last = count; stage > 0; --stage)
    division.firsts[stage - 1] = last = first_of[stage][last];
  return division;
}

}  // namespace

std::vector<size_t> divide(const std::vector<Work>& ops, const std::vector<double>& weight_bytes,
                           size_t stages) {
  const Stages all(ops, weight_bytes);
  const size_t count = all.count();
  const double least_bytes = least(count, stages, [&](double before, size_t first, size_t last) {
                               return std::max(before, all.bytes(first, last));
                             }).cost;
  const double mean = all.bytes(0, count) / static_cast<double>(stages);
  const double most_bytes = std::max(least_bytes, mean * kTolerance);
  const double least_seconds = least(count, stages, [&](double before, size_t first, size_t last) {
                                 if (all.bytes(first, last) > most_bytes) return kNever;
                                 return std::max(before, all.seconds(first, last));
                               }).cost;
  return least(count, stages,
               [&](double before, size_t first, size_t last) {
                 if (all.bytes(first, last) > most_bytes ||
                     all.seconds(first, last) > least_seconds * kTolerance)
                   return kNever;
                 return before + (first == 0 ? 0 : ops[first].bytes_before);
               })
      .firsts;
}

}  // namespace scopevm::compiler::split
