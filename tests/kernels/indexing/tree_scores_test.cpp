// Compares tree_scores with a loop over random tables of nodes. The tables are not trees: indices
// are also out of range, and nodes lead to any other node.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/kernels/oracle.h"

namespace scopevm::compiler::testing {
namespace {

constexpr int64_t kColumns = 5, kNodes = 40, kDepth = 4;

constexpr int64_t kRecord = 4;  // elements: next, feature, threshold, leaf

struct Tables {
  std::vector<float> weights;
  std::vector<int32_t> nodes, roots, depths, starts, columns;
};

Tables random_tables(int64_t trees, int64_t width, unsigned seed) {
  std::mt19937 random(seed);
  auto integer = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  Tables t;
  for (int64_t i = 0; i < kNodes; ++i) {
    const int threshold = integer(-4, 5);
    t.nodes.push_back(integer(-2, kNodes + 2) * kRecord + integer(0, 1));
    t.nodes.push_back(integer(-3, kColumns + 3));
    t.nodes.push_back(
        std::bit_cast<int32_t>(threshold == 5 ? std::nanf("") : static_cast<float>(threshold) / 2));
    t.nodes.push_back(integer(-1, kNodes));
    for (int64_t column = 0; column < width; ++column)
      t.weights.push_back(static_cast<float>(integer(-8, 8)));
    t.starts.push_back(static_cast<int32_t>(i));
    t.columns.push_back(integer(-1, static_cast<int>(width)));
  }
  t.starts.push_back(kNodes);
  t.starts[7] = 5;       // node 6 has no entries, node 7 has those of 5 to 7
  t.starts[20] = -30;    // node 19 has no entries, node 20 starts below the first entry
  t.starts[30] = 10000;  // node 29 ends after the last entry
  for (int64_t tree = 0; tree < trees; ++tree) {
    t.roots.push_back(integer(-1, kNodes) * kRecord);
    t.depths.push_back(kDepth);  // the trees of a vector descend equally often
  }
  return t;
}

constexpr int32_t kLast = (kNodes - 1) * kRecord;

// The number of the leaf. `follows_nan`: the lowest bit of a record says that NaN is true.
int32_t leaf_of(const Tables& t, const std::vector<float>& row, int32_t node, bool follows_nan) {
  node = std::clamp<int32_t>(node, 0, kLast);
  for (int32_t step = 0; step < kDepth; ++step) {
    const auto at = static_cast<size_t>(node);
    const int32_t next = follows_nan ? t.nodes[at] & ~1 : t.nodes[at];
    const float x = row[static_cast<size_t>(std::clamp<int32_t>(t.nodes[at + 1], 0, kColumns - 1))];
    const bool is_true = x <= std::bit_cast<float>(t.nodes[at + 2]) ||
                         (follows_nan && std::isnan(x) && (t.nodes[at] & 1) != 0);
    node = std::clamp<int32_t>(next + (is_true ? 0 : kRecord), 0, kLast);
  }
  return t.nodes[static_cast<size_t>(node) + 3];
}

std::vector<float> expected_scores(const Tables& t, const std::vector<float>& x, int64_t width,
                                   bool has_entries, const std::string& combine, bool follows_nan) {
  const size_t rows = x.size() / kColumns;
  const float infinity = std::numeric_limits<float>::infinity();
  const float neutral = combine == "sum" ? 0 : combine == "min" ? infinity : -infinity;
  std::vector<float> y(rows * static_cast<size_t>(width), neutral);
  for (size_t row = 0; row < rows; ++row) {
    const auto begin = x.begin() + static_cast<int64_t>(row) * kColumns;
    const std::vector<float> elements(begin, begin + kColumns);
    for (size_t tree = 0; tree < t.roots.size(); ++tree) {
      const int32_t leaf = leaf_of(t, elements, t.roots[tree], follows_nan);
      if (!has_entries) {
        for (int64_t column = 0; column < width; ++column)
          y[row * static_cast<size_t>(width) + static_cast<size_t>(column)] +=
              t.weights[static_cast<size_t>(
                  std::clamp<int64_t>(leaf * width + column, 0, kNodes * width - 1))];
        continue;
      }
      auto start = [&](int32_t i) {
        return std::clamp<int32_t>(t.starts[static_cast<size_t>(std::clamp<int32_t>(i, 0, kNodes))],
                                   0, kNodes);
      };
      const int32_t low = start(leaf), high = start(leaf + 1);
      for (int32_t e = low; e < high; ++e) {
        const auto entry = static_cast<size_t>(e);
        const int64_t column = std::clamp<int64_t>(t.columns[entry], 0, width - 1);
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

void check(int64_t rows, int64_t trees, int64_t width, bool has_entries, const std::string& combine,
           bool follows_nan = true) {
  Tables t = random_tables(trees, width, static_cast<unsigned>(rows * 100 + trees));
  if (has_entries) t.weights.resize(kNodes);
  std::mt19937 random(9);
  std::vector<float> x;
  for (int64_t i = 0; i < rows * kColumns; ++i) {
    const int number = std::uniform_int_distribution<int>(-6, 6)(random);
    x.push_back(number == 6 ? std::nanf("") : static_cast<float>(number) / 2);
  }
  const auto count = std::ssize(t.nodes), weights = std::ssize(t.weights);
  const std::string of_trees = "i32[" + std::to_string(trees) + "]";
  std::vector<std::string> operands = {"f32[n, " + std::to_string(kColumns) + "]",
                                       "i32[" + std::to_string(count) + "]", of_trees, of_trees,
                                       "f32[" + std::to_string(weights) + "]"};
  std::vector<Array> inputs = {Array::of<float>(DType::kF32, {rows, kColumns}, x),
                               Array::of<int32_t>(DType::kI32, {count}, t.nodes),
                               Array::of<int32_t>(DType::kI32, {trees}, t.roots),
                               Array::of<int32_t>(DType::kI32, {trees}, t.depths),
                               Array::of<float>(DType::kF32, {weights}, t.weights)};
  if (has_entries) {
    operands.push_back("i32[" + std::to_string(kNodes + 1) + "]");
    operands.push_back("i32[" + std::to_string(kNodes) + "]");
    inputs.push_back(Array::of<int32_t>(DType::kI32, {kNodes + 1}, t.starts));
    inputs.push_back(Array::of<int32_t>(DType::kI32, {kNodes}, t.columns));
  }
  const std::string result = "f32[n, " + std::to_string(width) + "]";
  for (const std::string& cpu : kCpus) {
    SCOPED_TRACE(cpu);
    CompiledOp op({"tree_scores",
                   "width = " + std::to_string(width) + ", combine = \"" + combine +
                       "\", follows_nan = " + (follows_nan ? "true" : "false"),
                   operands,
                   {result}},
                  cpu);
    const auto outputs = op(inputs);
    ASSERT_EQ(outputs.size(), 1u);
    expect_same(outputs[0],
                Array::of<float>(DType::kF32, {rows, width},
                                 expected_scores(t, x, width, has_entries, combine, follows_nan)));
  }
}

TEST(TreeScores, OneWeightPerLeaf) {
  for (const int64_t rows : {0, 1, 3, 65})
    for (const int64_t trees : {1, 4, 37}) check(rows, trees, 1, false, "sum");
  check(7, 19, 1, false, "sum", false);
}

TEST(TreeScores, OneWeightPerLeafAndColumn) {
  for (const int64_t width : {3, 4, 9}) check(65, 21, width, false, "sum");
  check(1100, 9, 2, false, "sum");  // more rows than descend a group of trees together
}

TEST(TreeScores, EntriesInSeveralColumns) {
  for (const char* combine : {"sum", "min", "max"}) {
    check(1, 37, 3, true, combine);
    check(130, 5, 1, true, combine);
  }
}

}  // namespace
}  // namespace scopevm::compiler::testing
