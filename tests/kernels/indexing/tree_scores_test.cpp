// Compares tree_scores with a loop over random tables of nodes. The tables are not trees: indices
// are also out of range, and nodes lead to any other node.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/kernels/oracle.h"

namespace scopevm::compiler::testing {
namespace {

constexpr int64_t kColumns = 5, kNodes = 40, kDepth = 4;

struct Tables {
  std::vector<float> thresholds, weights;
  std::vector<int32_t> features, next, roots, depths, starts, columns;
};

Tables random_tables(int64_t trees, int64_t width, unsigned seed) {
  std::mt19937 random(seed);
  auto integer = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  Tables t;
  for (int64_t i = 0; i < kNodes; ++i) {
    t.thresholds.push_back(static_cast<float>(integer(-4, 4)) / 2);
    t.features.push_back(integer(-3, 2 * kColumns + 3));
    t.next.push_back(integer(-2, kNodes + 2));
    t.weights.push_back(static_cast<float>(integer(-8, 8)));
    t.starts.push_back(static_cast<int32_t>(i));
    t.columns.push_back(integer(-1, static_cast<int>(width)));
  }
  t.starts.push_back(kNodes);
  t.starts[7] = 5;       // node 6 has no entries, node 7 has those of 5 to 7
  t.starts[20] = -30;    // node 19 has no entries, node 20 starts below the first entry
  t.starts[30] = 10000;  // node 29 ends after the last entry
  for (int64_t tree = 0; tree < trees; ++tree) {
    t.roots.push_back(integer(-1, kNodes));
    t.depths.push_back(kDepth);  // the trees of a vector descend equally often
  }
  return t;
}

int32_t leaf_of(const Tables& t, const std::vector<float>& row, int32_t node) {
  node = std::clamp<int32_t>(node, 0, kNodes - 1);
  for (int32_t step = 0; step < kDepth; ++step) {
    const auto at = static_cast<size_t>(node);
    const int32_t feature = t.features[at];
    const float x = row[static_cast<size_t>(std::clamp<int32_t>(feature >> 1, 0, kColumns - 1))];
    const bool is_true = x <= t.thresholds[at] || (std::isnan(x) && (feature & 1) != 0);
    node = std::clamp<int32_t>(t.next[at] + (is_true ? 0 : 1), 0, kNodes - 1);
  }
  return node;
}

std::vector<float> expected_scores(const Tables& t, const std::vector<float>& x, int64_t width,
                                   bool has_entries, const std::string& combine) {
  const size_t rows = x.size() / kColumns;
  const float infinity = std::numeric_limits<float>::infinity();
  const float neutral = combine == "sum" ? 0 : combine == "min" ? infinity : -infinity;
  std::vector<float> y(rows * static_cast<size_t>(width), neutral);
  for (size_t row = 0; row < rows; ++row) {
    const auto begin = x.begin() + static_cast<int64_t>(row) * kColumns;
    const std::vector<float> elements(begin, begin + kColumns);
    for (size_t tree = 0; tree < t.roots.size(); ++tree) {
      const auto leaf = static_cast<size_t>(leaf_of(t, elements, t.roots[tree]));
      const int32_t low =
          has_entries ? std::clamp<int32_t>(t.starts[leaf], 0, kNodes) : static_cast<int32_t>(leaf);
      const int32_t high =
          has_entries ? std::clamp<int32_t>(t.starts[leaf + 1], 0, kNodes) : low + 1;
      for (int32_t e = low; e < high; ++e) {
        const auto entry = static_cast<size_t>(e);
        const int64_t column =
            has_entries ? std::clamp<int64_t>(t.columns[entry], 0, width - 1) : 0;
        float& sum = y[row * static_cast<size_t>(width) + static_cast<size_t>(column)];
        const float weight = t.weights[entry];
        if (combine == "sum") sum += weight;
        if (combine == "min") sum = std::min(sum, weight);
        if (combine == "max") sum = std::max(sum, weight);
      }
    }
  }
  return y;
}

void check(int64_t rows, int64_t trees, int64_t width, bool has_entries,
           const std::string& combine) {
  const Tables t = random_tables(trees, width, static_cast<unsigned>(rows * 100 + trees));
  std::mt19937 random(9);
  std::vector<float> x;
  for (int64_t i = 0; i < rows * kColumns; ++i) {
    const int number = std::uniform_int_distribution<int>(-6, 6)(random);
    x.push_back(number == 6 ? std::nanf("") : static_cast<float>(number) / 2);
  }
  const std::string nodes = "i32[" + std::to_string(kNodes) + "]";
  const std::string reals = "f32[" + std::to_string(kNodes) + "]";
  const std::string of_trees = "i32[" + std::to_string(trees) + "]";
  std::vector<std::string> operands = {
      "f32[n, " + std::to_string(kColumns) + "]", reals, nodes, nodes, of_trees, of_trees, reals};
  std::vector<Array> inputs = {Array::of<float>(DType::kF32, {rows, kColumns}, x),
                               Array::of<float>(DType::kF32, {kNodes}, t.thresholds),
                               Array::of<int32_t>(DType::kI32, {kNodes}, t.features),
                               Array::of<int32_t>(DType::kI32, {kNodes}, t.next),
                               Array::of<int32_t>(DType::kI32, {trees}, t.roots),
                               Array::of<int32_t>(DType::kI32, {trees}, t.depths),
                               Array::of<float>(DType::kF32, {kNodes}, t.weights)};
  if (has_entries) {
    operands.push_back("i32[" + std::to_string(kNodes + 1) + "]");
    operands.push_back(nodes);
    inputs.push_back(Array::of<int32_t>(DType::kI32, {kNodes + 1}, t.starts));
    inputs.push_back(Array::of<int32_t>(DType::kI32, {kNodes}, t.columns));
  }
  const std::string result = "f32[n, " + std::to_string(width) + "]";
  for (const std::string& cpu : kCpus) {
    SCOPED_TRACE(cpu);
    CompiledOp op({"tree_scores",
                   "width = " + std::to_string(width) + ", combine = \"" + combine + "\"",
                   operands,
                   {result}},
                  cpu);
    const auto outputs = op(inputs);
    ASSERT_EQ(outputs.size(), 1u);
    expect_same(outputs[0], Array::of<float>(DType::kF32, {rows, width},
                                             expected_scores(t, x, width, has_entries, combine)));
  }
}

TEST(TreeScores, OneWeightPerLeaf) {
  for (const int64_t rows : {0, 1, 3, 65})
    for (const int64_t trees : {1, 4, 37}) check(rows, trees, 1, false, "sum");
}

TEST(TreeScores, EntriesInSeveralColumns) {
  for (const char* combine : {"sum", "min", "max"}) {
    check(1, 37, 3, true, combine);
    check(130, 5, 1, true, combine);
  }
}

}  // namespace
}  // namespace scopevm::compiler::testing
