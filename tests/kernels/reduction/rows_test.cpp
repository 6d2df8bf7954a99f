// Compares softmax, log_softmax and layer_norm with plain loops.
#include <cmath>

#include "tests/kernels/run_text.h"

namespace scopevm::compiler::testing {
namespace {

// softmax, or log_softmax if `is_log`, along the middle dim of x [outer, axis, inner].
std::vector<double> softmax(const std::vector<float>& x, int64_t axis, int64_t inner, bool is_log) {
  std::vector<double> y(x.size());
  int64_t lines = axis ? static_cast<int64_t>(x.size()) / axis : 0;
  for (int64_t line = 0; line < lines; ++line) {
    int64_t first = line / inner * axis * inner + line % inner;
    double top = -INFINITY, sum = 0;
    for (int64_t k = 0; k < axis; ++k) top = std::fmax(top, x[first + k * inner]);
    for (int64_t k = 0; k < axis; ++k) sum += std::exp(x[first + k * inner] - top);
    for (int64_t k = 0; k < axis; ++k) {
      double shifted = x[first + k * inner] - top;
      y[first + k * inner] = is_log ? shifted - std::log(sum) : std::exp(shifted) / sum;
    }
  }
  return y;
}

void expect_softmax(int64_t axis, const std::vector<int64_t>& dims, const std::string& op,
                    const std::string& cpu = "host") {
  std::string text = one_op("%x: !sv.tensor<f32[a,b,c]>",
                            "%r = sv." + op + " %x {axis = " + std::to_string(axis) +
                                "} : (!sv.tensor<f32[a,b,c]>) -> !sv.tensor<f32[a,b,c]>",
                            "f32[a,b,c]");
  Array x = random_f32(dims, 3);
  std::vector<float> values = x.as<float>();
  for (float& v : values) v *= 20;
  auto out = run_text(text, {Array::of(DType::kF32, dims, values)}, cpu);
  ASSERT_EQ(out.size(), 1u);
  int64_t inner = 1;
  for (size_t i = axis + 1; i < dims.size(); ++i) inner *= dims[i];
  auto expected = softmax(values, dims[axis], inner, op == "log_softmax");
  auto y = out[0].as<float>();
  ASSERT_EQ(y.size(), expected.size());
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_NEAR(y[i], expected[i], 1e-6 + 1e-5 * std::abs(expected[i])) << op << " " << i;
}

TEST(Rows, SoftmaxAlongEveryAxis) {
  for (std::string op : {"softmax", "log_softmax"})
    for (int64_t axis : {0, 1, 2}) {
      expect_softmax(axis, {3, 5, 37}, op);
      expect_softmax(axis, {2, 3, 1}, op);
      expect_softmax(axis, {2, 17, 70}, op, "x86-64");
    }
  expect_softmax(2, {2, 0, 4}, "softmax");
}

TEST(Rows, SoftmaxOfMinusInfinityIsZero) {
  std::string text = one_op("%x: !sv.tensor<f32[n,m]>",
                            "%r = sv.softmax %x {axis = 1} : (!sv.tensor<f32[n,m]>) -> "
                            "!sv.tensor<f32[n,m]>",
                            "f32[n,m]");
  auto out = run_text(text, {Array::of<float>(DType::kF32, {1, 3}, {1, -INFINITY, 1})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].as<float>(), (std::vector<float>{0.5f, 0, 0.5f}));
}

TEST(Rows, SoftmaxWithScaleAndMaskInItsGroup) {
  const char* text = R"(
func.func @main(%x: !sv.tensor<f32[n,h,m]>, %k: !sv.tensor<f32[n,1,m]>) -> !sv.tensor<f32[n,h,m]> {
  %r = sv.group (%p = %x : !sv.tensor<f32[n,h,m]>, %q = %k : !sv.tensor<f32[n,1,m]>) -> (!sv.tensor<f32[n,h,m]>) {
    %c = sv.constant {value = dense<0.5> : tensor<f32>} : !sv.tensor<f32[]>
    %s = sv.mul %p, %c : (!sv.tensor<f32[n,h,m]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n,h,m]>
    %t = sv.add %s, %q : (!sv.tensor<f32[n,h,m]>, !sv.tensor<f32[n,1,m]>) -> !sv.tensor<f32[n,h,m]>
    %u = sv.softmax %t {axis = 2} : (!sv.tensor<f32[n,h,m]>) -> !sv.tensor<f32[n,h,m]>
    %v = sv.add %u, %c : (!sv.tensor<f32[n,h,m]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n,h,m]>
    sv.yield %v : !sv.tensor<f32[n,h,m]>
  }
  return %r : !sv.tensor<f32[n,h,m]>
}
)";
  Array x = random_f32({2, 3, 21}, 1), mask = random_f32({2, 1, 21}, 2);
  auto out = run_text(text, {x, mask});
  ASSERT_EQ(out.size(), 1u);
  std::vector<float> in = x.as<float>(), m = mask.as<float>();
  for (size_t i = 0; i < in.size(); ++i) in[i] = in[i] * 0.5f + m[i / 63 * 21 + i % 21];
  auto expected = softmax(in, 21, 1, false);
  auto y = out[0].as<float>();
  for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i] + 0.5, 1e-6);
}

TEST(Rows, LayerNormWithResidualResult) {
  const char* text = R"(
func.func @main(%x: !sv.tensor<f32[n,m]>, %d: !sv.tensor<f32[n,m]>, %g: !sv.tensor<f32[m]>, %b: !sv.tensor<f32[m]>) -> (!sv.tensor<f32[n,m]>, !sv.tensor<f32[n,m]>) {
  %r:2 = sv.group (%p = %x : !sv.tensor<f32[n,m]>, %q = %d : !sv.tensor<f32[n,m]>, %s = %g : !sv.tensor<f32[m]>, %o = %b : !sv.tensor<f32[m]>) -> (!sv.tensor<f32[n,m]>, !sv.tensor<f32[n,m]>) {
    %t = sv.add %p, %q : (!sv.tensor<f32[n,m]>, !sv.tensor<f32[n,m]>) -> !sv.tensor<f32[n,m]>
    %u = sv.layer_norm %t, %s, %o {axis = 1, epsilon = 1.0e-5 : f32} : (!sv.tensor<f32[n,m]>, !sv.tensor<f32[m]>, !sv.tensor<f32[m]>) -> !sv.tensor<f32[n,m]>
    sv.yield %t, %u : !sv.tensor<f32[n,m]>, !sv.tensor<f32[n,m]>
  }
  return %r#0, %r#1 : !sv.tensor<f32[n,m]>, !sv.tensor<f32[n,m]>
}
)";
  Array x = random_f32({4, 75}, 1), d = random_f32({4, 75}, 2), g = random_f32({75}, 3),
        b = random_f32({75}, 4);
  auto out = run_text(text, {x, d, g, b});
  ASSERT_EQ(out.size(), 2u);
  auto xs = x.as<float>(), ds = d.as<float>(), gs = g.as<float>(), bs = b.as<float>();
  auto sums = out[0].as<float>(), y = out[1].as<float>();
  for (int row = 0; row < 4; ++row) {
    double mean = 0, variance = 0;
    for (int i = 0; i < 75; ++i) mean += (xs[row * 75 + i] + ds[row * 75 + i]) / 75;
    for (int i = 0; i < 75; ++i)
      variance += std::pow(xs[row * 75 + i] + ds[row * 75 + i] - mean, 2) / 75;
    for (int i = 0; i < 75; ++i) {
      int at = row * 75 + i;
      ASSERT_EQ(sums[at], xs[at] + ds[at]);
      ASSERT_NEAR(y[at], (sums[at] - mean) / std::sqrt(variance + 1e-5) * gs[i] + bs[i], 1e-5);
    }
  }
}

}  // namespace
}  // namespace scopevm::compiler::testing
