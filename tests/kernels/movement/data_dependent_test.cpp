// Kernels that lead to sizes that depend on data, against plain loops: where elements are not 0,
// sorted rows, groups of equal rows, boxes that survive. Where a size is read in a real graph, an
// input that is not used otherwise gives it here.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "tests/kernels/movement/oracle.h"

namespace scopevm::compiler::testing {
namespace {

using Rows = std::vector<std::vector<float>>;

const float kNan = std::numeric_limits<float>::quiet_NaN();

// --- Nonzero. -----------------------------------------------------------------------------------

// Runs count_nonzero and nonzero on x: i64[rank, count].
std::optional<Array> nonzero(const Array& x, int64_t expected_count, const std::string& cpu) {
  std::string type = "!sv.tensor<" + std::string(name(x.dtype)) + "[a, b]>";
  const std::string blocks = "!sv.tensor<i64[\"floordiv(a*b+4095, 4096)\"]>";
  std::string text = "func.func @main(%x: " + type + R"(, %size: !sv.tensor<f32[c]>)
      -> (!sv.tensor<i64[2, c]>, !sv.tensor<i64[1]>) {
    %starts, %count = sv.count_nonzero %x : ()" +
                     type + ") -> (" + blocks + R"(, !sv.tensor<i64[1]>)
    %0 = sv.nonzero %x, %starts {count = #sv.dims<[c]>} : ()" +
                     type + ", " + blocks + R"() -> !sv.tensor<i64[2, c]>
    return %0, %count : !sv.tensor<i64[2, c]>, !sv.tensor<i64[1]>
  })";
  auto runner = KernelRunner::create(text, cpu);
  if (!runner.is_ok()) {
    ADD_FAILURE() << runner.status().message();
    return std::nullopt;
  }
  Array size = Array::of(DType::kF32, {expected_count},
                         std::vector<float>(static_cast<size_t>(expected_count)));
  auto outputs = (*runner)->run({x, size});
  if (!outputs.is_ok()) {
    ADD_FAILURE() << outputs.status().message();
    return std::nullopt;
  }
  EXPECT_EQ((*outputs)[1].as<int64_t>(), std::vector<int64_t>{expected_count});
  return (*outputs)[0];
}

template <typename T>
void check_nonzero(DType dtype, Index dims, const std::vector<T>& data,
                   const std::vector<bool>& is_set) {
  std::vector<int64_t> rows, columns;
  for (int64_t i = 0; i < count(dims); ++i) {
    if (!is_set[static_cast<size_t>(i)]) continue;
    rows.push_back(i / dims[1]);
    columns.push_back(i % dims[1]);
  }
  auto found = static_cast<int64_t>(rows.size());
  rows.insert(rows.end(), columns.begin(), columns.end());
  for (const std::string& cpu : kCpus) {
    auto actual = nonzero(Array::of(dtype, dims, data), found, cpu);
    if (actual) EXPECT_EQ(actual->template as<int64_t>(), rows) << cpu;
  }
}

template <typename T>
void check_pattern(DType dtype, Index dims, int64_t every) {
  std::vector<T> data;
  std::vector<bool> is_set;
  for (int64_t i = 0; i < count(dims); ++i) {
    is_set.push_back(every > 0 && i * 7919 % every == 0);
    data.push_back(is_set.back() ? static_cast<T>(1) : static_cast<T>(0));
  }
  check_nonzero(dtype, std::move(dims), data, is_set);
}

TEST(Nonzero, SparseDenseAndNone) {
  for (int64_t every : {0, 1, 2, 63, 4000}) check_pattern<uint8_t>(DType::kBool, {61, 301}, every);
}

TEST(Nonzero, WideElements) {
  for (int64_t every : {1, 3}) {
    check_pattern<int64_t>(DType::kI64, {3, 77}, every);
    check_pattern<uint16_t>(DType::kU16, {9, 1000}, every);
    check_pattern<double>(DType::kF64, {1, 4097}, every);
  }
}

TEST(Nonzero, EmptyAndOneElement) {
  check_pattern<float>(DType::kF32, {0, 5}, 1);
  check_pattern<float>(DType::kF32, {5, 0}, 1);
  check_pattern<float>(DType::kF32, {1, 1}, 1);
  check_pattern<float>(DType::kF32, {1, 1}, 0);
}

TEST(Nonzero, MinusZeroIsZeroAndNanIsNot) {
  check_nonzero<float>(DType::kF32, {1, 5}, {0.0f, -0.0f, kNan, 1e-45f, -INFINITY},
                       {false, false, true, true, true});
  check_nonzero<uint16_t>(DType::kF16, {1, 4}, {0, 0x8000, 0x7e00, 1}, {false, false, true, true});
}

// --- Sorted and unique rows. --------------------------------------------------------------------

bool is_below(float a, float b) { return std::isnan(b) ? !std::isnan(a) : !std::isnan(a) && a < b; }

bool is_row_below(const std::vector<float>& a, const std::vector<float>& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), is_below);
}

std::vector<int64_t> sorted(const Rows& rows) {
  std::vector<int64_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return is_row_below(rows[static_cast<size_t>(i)], rows[static_cast<size_t>(j)]);
  });
  return order;
}

Array matrix(const Rows& rows, int64_t width) {
  std::vector<float> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return Array::of(DType::kF32, {static_cast<int64_t>(rows.size()), width}, all);
}

Rows rows_of(int64_t count, int64_t width, int64_t kinds) {
  Rows rows(static_cast<size_t>(count));
  int64_t seed = 1;
  for (auto& row : rows)
    for (int64_t i = 0; i < width; ++i) {
      seed = seed * 1103515245 % 2147483647;
      row.push_back(static_cast<float>(seed % kinds) - 3);
    }
  return rows;
}

void check_sort(const Rows& rows, int64_t width) {
  std::string w = width == 1 ? "1" : "w";  // one column is a kernel of its own
  CompiledOp op({"sort_rows", "", {"f32[n, " + w + "]"}, {"i64[n]"}});
  auto outputs = op({matrix(rows, width)});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].as<int64_t>(), sorted(rows)) << rows.size() << " rows of " << width;
}

TEST(SortRows, ManyLengths) {
  for (int64_t count : {0, 1, 2, 3, 5, 64, 1000, 1024, 1025, 3000, 9001})
    for (int64_t width : {1, 3}) check_sort(rows_of(count, width, 7), width);
}

TEST(SortRows, NanComesLastAndRowsMayBeEmpty) {
  check_sort({{1}, {kNan}, {-1}, {kNan}, {INFINITY}, {0}}, 1);
  check_sort({{1, kNan}, {kNan, 0}, {1, 2}, {1, kNan}}, 2);
  check_sort({{}, {}, {}}, 0);
}

TEST(SortRows, UnsignedElements) {
  CompiledOp op({"sort_rows", "", {"u8[n, 1]"}, {"i64[n]"}});
  auto outputs = op({Array::of<uint8_t>(DType::kU8, {4, 1}, {200, 3, 255, 127})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].as<int64_t>(), (std::vector<int64_t>{1, 3, 0, 2}));
}

void check_unique(const Rows& rows, int64_t width, bool by_first) {
  std::vector<int64_t> order = sorted(rows);
  std::vector<int64_t> first, group(rows.size()), sizes;
  std::vector<int64_t> sequence = order;
  if (by_first) std::sort(sequence.begin(), sequence.end());
  std::map<std::vector<float>, int64_t, decltype(&is_row_below)> seen(&is_row_below);
  for (int64_t i : sequence) {
    auto [entry, is_new] =
        seen.try_emplace(rows[static_cast<size_t>(i)], static_cast<int64_t>(first.size()));
    if (is_new) {
      first.push_back(i);
      sizes.push_back(0);
    }
    group[static_cast<size_t>(i)] = entry->second;
    ++sizes[static_cast<size_t>(entry->second)];
  }
  CompiledOp op({"unique_rows",
                 by_first ? "by_first = true" : "",
                 {"f32[n, w]", "i64[n]"},
                 {"i64[n]", "i64[n]", "i64[n]", "i64[1]"}});
  auto outputs = op({matrix(rows, width), of_i64({static_cast<int64_t>(order.size())}, order)});
  ASSERT_EQ(outputs.size(), 4u);
  ASSERT_EQ(outputs[3].as<int64_t>()[0], static_cast<int64_t>(first.size()));
  auto written = [&](int i) {
    auto all = outputs[static_cast<size_t>(i)].as<int64_t>();
    return std::vector<int64_t>(all.begin(), all.begin() + static_cast<int64_t>(first.size()));
  };
  EXPECT_EQ(written(0), first);
  EXPECT_EQ(outputs[1].as<int64_t>(), group);
  EXPECT_EQ(written(2), sizes);
}

TEST(UniqueRows, SortedOrByFirst) {
  for (bool by_first : {false, true}) {
    for (int64_t count : {0, 1, 2, 40, 500}) check_unique(rows_of(count, 2, 5), 2, by_first);
    check_unique({{1}, {kNan}, {1}, {kNan}, {0}}, 1, by_first);
    check_unique(rows_of(100, 1, 1000), 1, by_first);
  }
}

// --- Boxes. -------------------------------------------------------------------------------------

struct BoxCase {
  std::vector<float> boxes;  // four numbers a box, one image
  std::vector<float> scores;
  float overlap, least;
  int64_t limit;
  bool centered = false;
};

void check_boxes(const BoxCase& c, const std::vector<int64_t>& expected) {
  auto n = static_cast<int64_t>(c.scores.size());
  std::vector<int64_t> order(c.scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return c.scores[static_cast<size_t>(j)] < c.scores[static_cast<size_t>(i)];
  });
  std::vector<float> ranked;
  for (int64_t i : order) ranked.push_back(c.scores[static_cast<size_t>(i)]);
  std::string limit = std::to_string(c.limit);
  CompiledOp op({"suppress_boxes",
                 "limit = #sv.dims<[" + limit + "]>, centered = " + (c.centered ? "true" : "false"),
                 {"f32[1, n, 4]", "f32[1, 1, n]", "i64[1, 1, n]", "f32[]", "f32[]"},
                 {"i64[1, 1, \"min(" + limit + ", n)\"]", "i64[1, 1]"}});
  auto outputs =
      op({Array::of(DType::kF32, {1, n, 4}, c.boxes), Array::of(DType::kF32, {1, 1, n}, ranked),
          of_i64({1, 1, n}, order), Array::of<float>(DType::kF32, {}, {c.overlap}),
          Array::of<float>(DType::kF32, {}, {c.least})});
  ASSERT_EQ(outputs.size(), 2u);
  ASSERT_EQ(outputs[1].as<int64_t>()[0], static_cast<int64_t>(expected.size()));
  auto kept = outputs[0].as<int64_t>();
  kept.resize(expected.size());
  EXPECT_EQ(kept, expected);
}

const std::vector<float> kBoxes = {0, 0,  1, 1,  0, 0.1f,  1, 1.1f,  0, -0.1f, 1, 0.9f,
                                   0, 10, 1, 11, 1, 11.1f, 0, 10.1f, 0, 100,   1, 101};

TEST(SuppressBoxes, KeepsTheBestOfThoseThatOverlap) {
  check_boxes({kBoxes, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f}, 0.5f, 0, 9}, {3, 0, 5});
  check_boxes({kBoxes, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f}, 0.5f, 0, 2}, {3, 0});
  check_boxes({kBoxes, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f}, 0.5f, 0.4f, 9}, {3, 0});
  check_boxes({kBoxes, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f}, 1, 0, 9}, {3, 0, 1, 2, 4, 5});
}

TEST(SuppressBoxes, NoneSurvivesOrThereAreNone) {
  check_boxes({kBoxes, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f}, 0.5f, 2, 9}, {});
  check_boxes({kBoxes, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f}, 0.5f, 0, 0}, {});
  check_boxes({{}, {}, 0.5f, 0, 9}, {});
}

TEST(SuppressBoxes, CenteredBoxesAndBoxesWithoutArea) {
  check_boxes(
      {{0.5f, 0.5f, 1, 1, 0.5f, 0.6f, 1, 1, 0.5f, 10.5f, 1, 1}, {1, 2, 3}, 0.5f, 0, 9, true},
      {2, 1});
  check_boxes({{0, 0, 0, 0, 0, 0, 0, 0}, {1, 2}, 0, 0, 9}, {1, 0});
}

}  // namespace
}  // namespace scopevm::compiler::testing
