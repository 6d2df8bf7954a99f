// Compares top_k with a stable sort.
#include <algorithm>
#include <limits>
#include <numeric>

#include "tests/kernels/oracle.h"

namespace scopevm::compiler::testing {
namespace {

template <typename T>
void check(DType dtype, const Index& dims, size_t axis, int64_t k, bool largest,
           const std::vector<T>& data) {
  const std::vector<std::string> names = {"a", "b", "c"};
  std::string out;
  for (size_t d = 0; d < 3; ++d)
    out += (d ? ", " : "") + (d == axis ? std::to_string(k) : names[d]);
  std::string element_type(name(dtype));
  CompiledOp op({"top_k",
                 "k = #sv.dims<[" + std::to_string(k) + "]>, axis = " + std::to_string(axis) +
                     " : i64, largest = " + (largest ? "true" : "false"),
                 {element_type + "[a, b, c]"},
                 {element_type + "[" + out + "]", "i64[" + out + "]"}});
  Array x = Array::of(dtype, dims, data);
  auto outputs = op({x});
  ASSERT_EQ(outputs.size(), 2u);
  Index rows(dims);
  rows[axis] = 1;
  for_each_index(rows, [&](const Index& row) {
    auto at = [&](int64_t i) {
      Index index(row);
      index[axis] = i;
      return index;
    };
    std::vector<int64_t> order(dims[axis]);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      T a = element<T>(x, at(i)), b = element<T>(x, at(j));
      return largest ? b < a : a < b;
    });
    for (int64_t i = 0; i < k; ++i) {
      ASSERT_EQ(element<int64_t>(outputs[1], at(i)), order[i]) << "place " << i;
      ASSERT_EQ(element<T>(outputs[0], at(i)), element<T>(x, at(order[i])));
    }
  });
}

template <typename T>
std::vector<T> with_repeats(int64_t count) {
  std::vector<T> data;
  for (int64_t i = 0; i < count; ++i) data.push_back(static_cast<T>(i * 7919 % 23 - 9));
  return data;
}

TEST(TopK, EveryAxisAndOrder) {
  for (bool largest : {true, false})
    for (size_t axis = 0; axis < 3; ++axis)
      check<float>(DType::kF32, {6, 7, 8}, axis, 4, largest, with_repeats<float>(6 * 7 * 8));
}

TEST(TopK, NoneOneAndAll) {
  for (int64_t k : {0, 1, 2, 30})
    check<int64_t>(DType::kI64, {2, 1, 30}, 2, k, true, with_repeats<int64_t>(60));
}

// NaN is greater than all numbers, and all NaNs are equal.
TEST(TopK, OrdersNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> data = {3, nan, -1, 7, nan, 2, 9, -4};
  for (bool largest : {true, false}) {
    CompiledOp op({"top_k",
                   std::string("k = #sv.dims<[5]>, axis = 0 : i64, largest = ") +
                       (largest ? "true" : "false"),
                   {"f32[8]"},
                   {"f32[5]", "i64[5]"}});
    auto outputs = op({Array::of(DType::kF32, {8}, data)});
    ASSERT_EQ(outputs.size(), 2u);
    EXPECT_EQ(outputs[1].as<int64_t>(), (largest ? std::vector<int64_t>{1, 4, 6, 3, 0}
                                                 : std::vector<int64_t>{7, 2, 5, 0, 3}));
  }
}

TEST(TopK, UnsignedAndEmpty) {
  check<uint8_t>(DType::kU8, {1, 2, 40}, 2, 5, true, with_repeats<uint8_t>(80));
  check<uint8_t>(DType::kU8, {0, 2, 40}, 2, 5, true, {});
}

}  // namespace
}  // namespace scopevm::compiler::testing
