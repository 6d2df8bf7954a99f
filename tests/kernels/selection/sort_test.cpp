// Compares sort_rows with std::stable_sort, and unique_rows with a map of rows.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "tests/kernels/oracle.h"

namespace scopevm::compiler::testing {
namespace {

using Rows = std::vector<std::vector<float>>;

const float kNan = std::numeric_limits<float>::quiet_NaN();

// NaN is above all numbers.
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

// `count` pseudorandom rows of `width` elements, each with one of `kinds` values.
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
  std::string w = width == 1 ? "1" : "w";  // one column has its own kernel
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

TEST(UniqueRows, SortedOrInOrderOfFirstOccurrence) {
  for (bool by_first : {false, true}) {
    for (int64_t count : {0, 1, 2, 40, 500}) check_unique(rows_of(count, 2, 5), 2, by_first);
    check_unique({{1}, {kNan}, {1}, {kNan}, {0}}, 1, by_first);
    check_unique(rows_of(100, 1, 1000), 1, by_first);
  }
}

}  // namespace
}  // namespace scopevm::compiler::testing
