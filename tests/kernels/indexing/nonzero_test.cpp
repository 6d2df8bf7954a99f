// Compares count_nonzero and nonzero with a plain loop. In a real graph, sv.read_dims defines the
// size of nonzero's result. KernelRunner only runs kernels, so here the size is a dim of an
// otherwise unused input.
#include <cmath>
#include <limits>

#include "tests/kernels/oracle.h"

namespace scopevm::compiler::testing {
namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();

// Runs count_nonzero and nonzero on `x`, and checks the count. Returns the indices, i64[2, count].
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
  if (!runner.ok()) {
    ADD_FAILURE() << runner.status().message();
    return std::nullopt;
  }
  Array size = Array::of(DType::kF32, {expected_count},
                         std::vector<float>(static_cast<size_t>(expected_count)));
  auto outputs = (*runner)->run({x, size});
  if (!outputs.ok()) {
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

// Every `every`-th element is nonzero. If `every` is 0, all elements are zero.
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

}  // namespace
}  // namespace scopevm::compiler::testing
