// Compares det with Laplace expansion along the first row.
#include "tests/kernels/oracle.h"

namespace scopevm::compiler::testing {
namespace {

using Matrix = std::vector<std::vector<double>>;

double determinant(const Matrix& m) {
  if (m.empty()) return 1;
  double sum = 0;
  for (size_t skipped = 0; skipped < m.size(); ++skipped) {
    Matrix rest;
    for (size_t row = 1; row < m.size(); ++row) {
      rest.emplace_back();
      for (size_t column = 0; column < m.size(); ++column)
        if (column != skipped) rest.back().push_back(m[row][column]);
    }
    sum += (skipped % 2 ? -1 : 1) * m[0][skipped] * determinant(rest);
  }
  return sum;
}

template <typename T>
void check_det(DType dtype, int64_t count, int64_t n, const std::vector<T>& data) {
  std::string type(name(dtype));
  CompiledOp op({"det", "", {type + "[b, n, n]"}, {type + "[b]"}});
  auto outputs = op({Array::of(dtype, {count, n, n}, data)});
  ASSERT_EQ(outputs.size(), 1u);
  for (int64_t b = 0; b < count; ++b) {
    Matrix m(static_cast<size_t>(n));
    for (int64_t i = 0; i < n * n; ++i)
      m[static_cast<size_t>(i / n)].push_back(data[static_cast<size_t>(b * n * n + i)]);
    EXPECT_NEAR(element<T>(outputs[0], {b}), determinant(m), 1e-4) << "matrix " << b;
  }
}

TEST(Det, EverySize) {
  for (int64_t n = 0; n < 7; ++n)
    check_det<float>(DType::kF32, 5, n, random_f32({5, n, n}, 3).as<float>());
}

TEST(Det, SelectsPivots) {
  check_det<double>(DType::kF64, 1, 3, {0, 2, 1, 0, 0, 3, 4, 5, 6});
  check_det<float>(DType::kF32, 1, 2, {0, 1, 1, 0});
}

TEST(Det, SingularIsZero) {
  check_det<float>(DType::kF32, 2, 3, {1, 2, 3, 2, 4, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST(Det, EmptyBatch) { check_det<float>(DType::kF32, 0, 3, {}); }

}  // namespace
}  // namespace scopevm::compiler::testing
