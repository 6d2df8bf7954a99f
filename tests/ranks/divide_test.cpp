// Compares divide() with all divisions of small random sequences.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "compiler/split/pipeline/divide.h"

namespace scopevm::compiler::split {
namespace {

struct Costs {
  double most_bytes = 0, most_seconds = 0, crossing = 0;
};

Costs costs_of(const std::vector<Work>& ops, const std::vector<double>& weights,
               const std::vector<size_t>& firsts) {
  Costs costs;
  for (size_t stage = 0; stage < firsts.size(); ++stage) {
    const size_t first = firsts[stage];
    const size_t last = stage + 1 < firsts.size() ? firsts[stage + 1] : ops.size();
    std::set<size_t> read;
    double bytes = 0, seconds = first == 0 ? 0 : ops[first].seconds_before;
    for (size_t i = first; i < last; ++i) {
      seconds += ops[i].seconds;
      for (const size_t weight : ops[i].weights)
        if (read.insert(weight).second) bytes += weights[weight];
    }
    costs.most_bytes = std::max(costs.most_bytes, bytes);
    costs.most_seconds = std::max(costs.most_seconds, seconds);
    if (first > 0) costs.crossing += ops[first].bytes_before;
  }
  return costs;
}

void for_each_division(size_t count, size_t stages, std::vector<size_t> firsts,
                       const std::function<void(const std::vector<size_t>&)>& visit) {
  if (firsts.size() == stages) return visit(firsts);
  const size_t least = firsts.empty() ? 0 : firsts.back() + 1;
  const size_t most = firsts.empty() ? 0 : count - (stages - firsts.size());
  for (size_t first = least; first <= most; ++first) {
    firsts.push_back(first);
    for_each_division(count, stages, firsts, visit);
    firsts.pop_back();
  }
}

TEST(Divide, MeetsItsCriteria) {
  std::mt19937 random(7);
  const auto number = [&](int most) { return static_cast<double>(random() % most); };
  for (int trial = 0; trial < 2000; ++trial) {
    const size_t count = 1 + random() % 9;
    const size_t stages = 1 + random() % std::min<size_t>(count, 4);
    std::vector<double> weights(1 + random() % 6);
    for (double& bytes : weights) bytes = number(100);
    std::vector<Work> ops(count);
    for (Work& op : ops) {
      op.seconds = number(20);
      op.bytes_before = number(50);
      op.seconds_before = number(5);
      while (random() % 2 == 0) op.weights.push_back(random() % weights.size());
    }
    const std::vector<size_t> firsts = divide(ops, weights, stages);
    ASSERT_EQ(firsts.size(), stages);
    ASSERT_EQ(firsts.front(), 0u);
    ASSERT_TRUE(std::ranges::is_sorted(firsts, std::less_equal()) || stages == 1);

    Costs least{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
                std::numeric_limits<double>::infinity()};
    const auto all = [&](const std::function<void(const Costs&)>& visit) {
      for_each_division(count, stages, {}, [&](const std::vector<size_t>& each) {
        visit(costs_of(ops, weights, each));
      });
    };
    all([&](const Costs& each) { least.most_bytes = std::min(least.most_bytes, each.most_bytes); });
    const double mean = costs_of(ops, weights, {0}).most_bytes / static_cast<double>(stages);
    const double most_bytes = std::max(least.most_bytes, 1.05 * mean);
    all([&](const Costs& each) {
      if (each.most_bytes <= most_bytes)
        least.most_seconds = std::min(least.most_seconds, each.most_seconds);
    });
    all([&](const Costs& each) {
      if (each.most_bytes <= most_bytes && each.most_seconds <= 1.05 * least.most_seconds)
        least.crossing = std::min(least.crossing, each.crossing);
    });
    const Costs found = costs_of(ops, weights, firsts);
    EXPECT_LE(found.most_bytes, most_bytes);
    EXPECT_LE(found.most_seconds, 1.05 * least.most_seconds);
    EXPECT_EQ(found.crossing, least.crossing);
  }
}

}  // namespace
}  // namespace scopevm::compiler::split
