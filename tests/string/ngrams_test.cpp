// Compares count_ngrams with a plain search for every n-gram of the pool at every position of a
// row.
#include <gmock/gmock.h>

#include <random>

#include "tests/control_flow/run_graph.h"

namespace scopevm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The attributes of sv.count_ngrams.
struct Pool {
  std::vector<std::vector<int64_t>> grams;  // in ascending order of their lengths
  std::vector<int64_t> columns;
  std::vector<float> weights = {};
  int64_t min_length = 1, max_length = 1, skips = 0;
  bool once = false;  // counts an n-gram at most once per row
};

template <typename T>
std::string list(const std::vector<T>& items) {
  std::string text;
  for (const T& item : items) text += (text.empty() ? "" : ", ") + std::to_string(item);
  return text;
}

std::string graph_text(const Pool& pool, const std::string& dtype) {
  std::vector<int64_t> keys, starts;
  for (const std::vector<int64_t>& gram : pool.grams) {
    while (starts.size() < gram.size()) starts.push_back(static_cast<int64_t>(keys.size()));
    keys.insert(keys.end(), gram.begin(), gram.end());
  }
  while (starts.size() < static_cast<size_t>(pool.max_length))
    starts.push_back(static_cast<int64_t>(keys.size()));
  int64_t columns = 0;
  for (int64_t column : pool.columns) columns = std::max(columns, column + 1);
  const std::string x = "!sv.tensor<" + dtype + "[n, c]>",
                    y = "!sv.tensor<f32[n, " + std::to_string(columns) + "]>";
  return "func.func @main(%x: " + x + " {sv.name = \"x\"}) -> (" + y +
         " {sv.name = \"y\"}) {\n  %0 = sv.count_ngrams %x {pool = dense<[" + list(keys) +
         "]> : tensor<" + std::to_string(keys.size()) +
         "xi64>, starts = array<i64: " + list(starts) +
         ">, columns = array<i64: " + list(pool.columns) + ">, weights = array<f32" +
         (pool.weights.empty() ? "" : ": " + list(pool.weights)) +
         ">, min_length = " + std::to_string(pool.min_length) +
         " : i64, max_length = " + std::to_string(pool.max_length) +
         " : i64, skips = " + std::to_string(pool.skips) +
         " : i64, once = " + (pool.once ? "true" : "false") + "} : (" + x + ") -> " + y +
         "\n  return %0 : " + y + "\n}\n";
}

bool is_at(const std::vector<int64_t>& row, size_t start, size_t distance,
           const std::vector<int64_t>& gram) {
  for (size_t i = 0; i < gram.size(); ++i) {
    const size_t at = start + i * distance;
    if (at >= row.size() || row[at] != gram[i]) return false;
  }
  return true;
}

std::vector<float> counted(const Pool& pool, const std::vector<int64_t>& row) {
  std::vector<float> result(static_cast<size_t>(*std::ranges::max_element(pool.columns) + 1));
  for (size_t g = 0; g < pool.grams.size(); ++g) {
    const std::vector<int64_t>& gram = pool.grams[g];
    if (std::ssize(gram) < pool.min_length || std::ssize(gram) > pool.max_length) continue;
    int64_t found = 0;
    for (int64_t distance = 1; distance <= pool.skips + 1; ++distance)
      for (size_t start = 0; start < row.size(); ++start)
        if (distance == 1 || gram.size() > 1)
          found += is_at(row, start, static_cast<size_t>(distance), gram);
    if (pool.once) found = std::min<int64_t>(found, 1);
    result[static_cast<size_t>(pool.columns[g])] +=
        static_cast<float>(found) * (pool.weights.empty() ? 1.0f : pool.weights[g]);
  }
  return result;
}

// Distinct n-grams of 1 to 3 words from a vocabulary of ten.
Pool random_pool(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<int64_t>> grams;
  for (size_t length = 1; length <= 3; ++length)
    for (int i = 0; i < 12; ++i) {
      std::vector<int64_t> gram(length);
      for (int64_t& word : gram) word = static_cast<int64_t>(random() % 10) * 1000 - 3000;
      if (std::ranges::find(grams, gram) == grams.end()) grams.push_back(gram);
    }
  Pool pool{.grams = grams, .columns = {}};
  for (size_t i = 0; i < grams.size(); ++i) {
    pool.columns.push_back(static_cast<int64_t>(grams.size() - 1 - i));
    pool.weights.push_back(0.5f + static_cast<float>(i));
  }
  return pool;
}

void check(const Pool& pool, int64_t rows, int64_t width) {
  Graph graph(graph_text(pool, "i64"));
  std::mt19937 random(7);
  std::vector<int64_t> words(static_cast<size_t>(rows * width));
  for (int64_t& word : words) word = static_cast<int64_t>(random() % 11) * 1000 - 3000;
  const std::vector<Tensor> results = graph.run({integers({rows, width}, words)});
  ASSERT_EQ(results.size(), 1u);
  std::vector<float> expected;
  for (int64_t row = 0; row < rows; ++row) {
    const auto begin = words.begin() + row * width;
    for (float count : counted(pool, {begin, begin + width})) expected.push_back(count);
  }
  EXPECT_EQ(elements(results[0]), expected);
}

TEST(CountNgrams, AllLengthsAndDistances) {
  for (int64_t skips : {0, 1, 5})
    for (auto [least, most] : {std::pair(1, 1), {1, 3}, {2, 2}, {2, 3}, {3, 3}}) {
      Pool pool = random_pool(3);
      pool.skips = skips, pool.min_length = least, pool.max_length = most;
      check(pool, 5, 60);
      pool.once = true;
      check(pool, 5, 60);
    }
}

TEST(CountNgrams, ShortRows) {
  Pool pool = random_pool(4);
  pool.max_length = 3, pool.skips = 9;
  for (int64_t width : {1, 2, 3}) check(pool, 3, width);
}

TEST(CountNgrams, I32AndEmptyPool) {
  Graph graph(graph_text({.grams = {{7}, {-2}}, .columns = {1, 0}}, "i32"));
  Tensor x = *Tensor::allocate(DType::kI32, {1, 4});
  std::ranges::copy(std::vector<int32_t>{7, -2, 7, 5}, x.elements<int32_t>().begin());
  EXPECT_THAT(elements(graph.run({x})[0]), ElementsAre(1, 2));
  // All n-grams of the pool have excluded lengths, so nothing is counted.
  Graph empty(
      graph_text({.grams = {{7}}, .columns = {1}, .min_length = 2, .max_length = 2}, "i64"));
  EXPECT_THAT(elements(empty.run({integers({1, 3}, {7, 7, 7})})[0]), ElementsAre(0, 0));
}

TEST(CountNgrams, InvalidPoolsAreRejected) {
  Pool pool{.grams = {{1}, {2, 3}}, .columns = {0, 1}, .max_length = 2};
  EXPECT_TRUE(Graph::compile_error(graph_text(pool, "i64")).ok());
  EXPECT_THAT(
      std::string(Graph::compile_error(graph_text(pool, "f32")).message()),
      HasSubstr(
          "x must be i32 or i64 with a pool of i64, or str with a pool of str, but x is f32"));
  auto refused = [&](auto change, const std::string& message) {
    Pool wrong = pool;
    change(wrong);
    EXPECT_THAT(std::string(Graph::compile_error(graph_text(wrong, "i64")).message()),
                HasSubstr(message));
  };
  refused([](Pool& p) { p.columns = {0}; }, "1 column given, expected 2, one for each n-gram");
  refused([](Pool& p) { p.weights = {1}; }, "1 weight given, expected 2, one for each n-gram");
  refused([](Pool& p) { p.columns = {0, -1}; }, "column -1 is out of range [0, 2147483648)");
  refused([](Pool& p) { p.min_length = 0; },
          "lengths are 0 to 2, expected a range within the pool's lengths 1 to 2");
  refused([](Pool& p) { p.skips = -1; }, "skips is -1, expected 0 to 2147483647");
}

}  // namespace
}  // namespace scopevm
