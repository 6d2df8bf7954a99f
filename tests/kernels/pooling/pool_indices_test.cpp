// Compares max_pool_indices with plain loops over every window.
#include <limits>

#include "tests/kernels/oracle.h"
#include "tests/kernels/run_text.h"

namespace scopevm::compiler::testing {
namespace {

struct IndexedWindow {
  Index kernel, strides, pads, dilations;
  bool by_column = false;  // indices count the positions of an image in column-major order
};

Index pooled_dims(const IndexedWindow& w, const Index& x) {
  Index y = {x[0], x[1]};
  for (size_t d = 0; d < w.kernel.size(); ++d) {
    int64_t span = (w.kernel[d] - 1) * w.dilations[d] + 1;
    int64_t room = x[d + 2] + w.pads[d] + w.pads[w.kernel.size() + d] - span;
    y.push_back(room / w.strides[d] + 1);
  }
  return y;
}

// The index that the op returns if the largest element of a window is at position `at`.
int64_t place(const IndexedWindow& w, const Index& dims, const Index& at) {
  if (!w.by_column) return offset_of(dims, at);
  int64_t place = 0, plane = count(dims) / (dims[0] * dims[1]);
  for (size_t d = dims.size(); d-- > 2;) place = place * dims[d] + at[d];
  return (at[0] * dims[1] + at[1]) * plane + place;
}

template <typename T>
void check(DType dtype, const IndexedWindow& w, const Index& dims, const std::vector<T>& data) {
  std::string element_type(name(dtype)), x_dims, y_dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    x_dims += (d ? ", " : "") + std::to_string(dims[d]);
    y_dims += (d ? ", " : "") + std::to_string(pooled_dims(w, dims)[d]);
  }
  CompiledOp op({"max_pool_indices",
                 "kernel = " + list(w.kernel) + ", strides = " + list(w.strides) +
                     ", pads = " + list(w.pads) + ", dilations = " + list(w.dilations) +
                     ", by_column = " + (w.by_column ? "true" : "false"),
                 {element_type + "[" + x_dims + "]"},
                 {element_type + "[" + y_dims + "]", "i64[" + y_dims + "]"}});
  Array x = Array::of(dtype, dims, data);
  auto outputs = op({x});
  ASSERT_EQ(outputs.size(), 2u);
  for_each_index(pooled_dims(w, dims), [&](const Index& i) {
    std::optional<Index> best;
    for_each_index(w.kernel, [&](const Index& tap) {
      Index at = {i[0], i[1]};
      bool inside = true;
      for (size_t d = 0; d < w.kernel.size(); ++d) {
        at.push_back(i[d + 2] * w.strides[d] - w.pads[d] + tap[d] * w.dilations[d]);
        inside = inside && at.back() >= 0 && at.back() < dims[d + 2];
      }
      if (inside && (!best || element<T>(x, *best) < element<T>(x, at))) best = at;
    });
    ASSERT_TRUE(best);
    ASSERT_EQ(element<T>(outputs[0], i), element<T>(x, *best));
    ASSERT_EQ(element<int64_t>(outputs[1], i), place(w, dims, *best));
  });
}

template <typename T>
std::vector<T> with_repeats(int64_t count) {
  std::vector<T> data;
  for (int64_t i = 0; i < count; ++i) data.push_back(static_cast<T>(i * 7919 % 23 - 9));
  return data;
}

TEST(MaxPoolIndices, IndicesCountElementsOfTheWholeInput) {
  check<float>(DType::kF32, {{2, 3}, {1, 2}, {0, 0, 0, 0}, {1, 1}}, {2, 3, 5, 8},
               with_repeats<float>(240));
}

TEST(MaxPoolIndices, IndicesInColumnMajorOrder) {
  check<float>(DType::kF32, {{2, 2, 2}, {1, 1, 2}, {0, 0, 0, 0, 0, 0}, {1, 1, 1}, true},
               {1, 2, 3, 4, 5}, with_repeats<float>(120));
}

TEST(MaxPoolIndices, PaddingIsNeverTheMaximum) {
  IndexedWindow w{{3, 3}, {2, 1}, {1, 1, 1, 1}, {2, 1}};
  check<float>(DType::kF32, w, {1, 2, 6, 5}, std::vector<float>(60, -3));
  check<double>(DType::kF64, w, {1, 2, 6, 5}, with_repeats<double>(60));
}

TEST(MaxPoolIndices, WindowOfTheSmallestValueHasAnIndex) {
  float least = -std::numeric_limits<float>::infinity();
  check<float>(DType::kF32, {{2}, {2}, {0, 0}, {1}}, {1, 1, 6}, std::vector<float>(6, least));
}

// As in max_pool, a NaN is never the maximum, and a window of NaNs has the smallest value.
TEST(MaxPoolIndices, IgnoresNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::string window =
      "kernel = array<i64: 3>, strides = array<i64: 3>, pads = array<i64: 0, 0>, "
      "dilations = array<i64: 1>";
  Array x =
      Array::of<float>(DType::kF32, {1, 1, 12}, {nan, 2, 1, 5, nan, 6, 3, -1, nan, nan, nan, nan});
  CompiledOp with_indices(
      {"max_pool_indices", window, {"f32[1, 1, 12]"}, {"f32[1, 1, 4]", "i64[1, 1, 4]"}});
  CompiledOp without({"max_pool", window, {"f32[1, 1, 12]"}, {"f32[1, 1, 4]"}});
  auto outputs = with_indices({x}), values = without({x});
  ASSERT_EQ(outputs.size(), 2u);
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(outputs[0].as<float>(), (std::vector<float>{2, 6, 3, -infinity}));
  EXPECT_EQ(outputs[1].as<int64_t>(), (std::vector<int64_t>{1, 5, 6, 9}));
  EXPECT_EQ(values[0].as<float>(), outputs[0].as<float>());
}

TEST(MaxPoolIndices, SmallIntegers) {
  check<uint8_t>(DType::kU8, {{3}, {1}, {1, 1}, {1}}, {2, 1, 19}, with_repeats<uint8_t>(38));
  check<int8_t>(DType::kI8, {{3}, {1}, {1, 1}, {1}}, {2, 1, 19}, with_repeats<int8_t>(38));
}

TEST(MaxPoolIndices, EmptyBatch) {
  check<float>(DType::kF32, {{2, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1}}, {0, 3, 4, 4}, {});
}

}  // namespace
}  // namespace scopevm::compiler::testing
