// Compares resize with the interpolation of each element in double precision.
#include <cmath>

#include "tests/kernels/oracle.h"

namespace scopevm::compiler::testing {
namespace {

struct Resize {
  std::string mode, coordinates = "half_pixel", rounding = "round_prefer_floor";
  std::vector<float> scales;  // empty: computed from the dims
  bool exclude_outside = false;
};

double coordinate(const Resize& r, size_t axis, double o, double in, double out) {
  double scale = r.scales.empty() ? out / in : r.scales[axis];
  if (r.coordinates == "asymmetric") return o / scale;
  if (r.coordinates == "align_corners") return out == 1 ? 0 : o * (in - 1) / (out - 1);
  if (r.coordinates == "tf_half_pixel_for_nn") return (o + 0.5) / scale;
  if (r.coordinates == "pytorch_half_pixel" && out == 1) return 0;
  return (o + 0.5) / scale - 0.5;
}

double rounded(const std::string& rounding, double x) {
  if (rounding == "floor") return std::floor(x);
  if (rounding == "ceil") return std::ceil(x);
  return rounding == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

// The elements of x along `axis`, as clamped positions and weights, that make up position `o` of
// the result. `in` and `out` are the sizes of the axis.
std::vector<std::pair<int64_t, double>> taps(const Resize& r, size_t axis, int64_t o, int64_t in,
                                             int64_t out) {
  auto real = [](int64_t value) { return static_cast<double>(value); };
  double x = coordinate(r, axis, real(o), real(in), real(out));
  std::vector<std::pair<int64_t, double>> all;
  if (r.mode == "nearest") all = {{static_cast<int64_t>(rounded(r.rounding, x)), 1.0}};
  auto first = static_cast<int64_t>(std::floor(x));
  double f = x - std::floor(x);
  if (r.mode == "linear") all = {{first, 1 - f}, {first + 1, f}};
  if (r.mode == "cubic")
    for (int64_t tap = -1; tap <= 2; ++tap) {
      // Keys' cubic convolution kernel.
      double d = std::fabs(f - real(tap)), a = -0.75;
      double w = d <= 1 ? (a + 2) * d * d * d - (a + 3) * d * d + 1
                        : a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
      all.emplace_back(first + tap, w);
    }
  double sum = 0;
  for (auto& [at, weight] : all) {
    if (r.exclude_outside && (at < 0 || at >= in)) weight = 0;
    sum += weight;
    at = std::clamp<int64_t>(at, 0, in - 1);
  }
  if (r.exclude_outside)
    for (auto& tap : all) tap.second /= sum;
  return all;
}

Array resized(const Resize& r, const Array& x, const Index& y) {
  std::vector<float> values;
  for_each_index(y, [&](const Index& i) {
    std::function<double(size_t, Index)> sum = [&](size_t axis, Index at) -> double {
      if (axis == y.size()) return element<float>(x, at);
      double total = 0;
      for (auto [position, weight] : taps(r, axis, i[axis], x.dims[axis], y[axis])) {
        at.push_back(position);
        total += weight * sum(axis + 1, at);
        at.pop_back();
      }
      return total;
    };
    values.push_back(static_cast<float>(sum(0, {})));
  });
  return Array::of(DType::kF32, y, values);
}

void check(const Resize& r, const Index& x_dims, const Index& y_dims) {
  auto list = [](const Index& dims) {
    std::string text;
    for (int64_t dim : dims) text += (text.empty() ? "" : ", ") + std::to_string(dim);
    return text;
  };
  std::string scales;
  for (float scale : r.scales) scales += (scales.empty() ? ": " : ", ") + std::to_string(scale);
  std::string attributes = "dims = #sv.dims<[" + list(y_dims) + "]>, scales = array<f32" + scales +
                           ">, mode = \"" + r.mode + "\", coordinates = \"" + r.coordinates +
                           "\", rounding = \"" + r.rounding +
                           "\", exclude_outside = " + (r.exclude_outside ? "true" : "false");
  for (const std::string& cpu : kCpus) {
    CompiledOp op(
        {"resize", attributes, {"f32[" + list(x_dims) + "]"}, {"f32[" + list(y_dims) + "]"}}, cpu);
    Array x = random_f32(x_dims, 5);
    SCOPED_TRACE(attributes + " " + cpu);
    auto outputs = op({x});
    ASSERT_EQ(outputs.size(), 1u);
    expect_near(outputs[0], resized(r, x, y_dims), r.mode == "nearest" ? 0 : 2e-5f);
  }
}

// Without tf_half_pixel_for_nn, which is defined for nearest only: it shifts axes whose size does
// not change.
const std::vector<std::string> kCoordinates = {"half_pixel", "pytorch_half_pixel", "align_corners",
                                               "asymmetric"};

TEST(Resize, NearestInEveryCoordinateAndRounding) {
  for (const std::string& coordinates : kCoordinates)
    check({"nearest", coordinates}, {1, 2, 5, 6}, {1, 2, 7, 11});
  check({"nearest", "tf_half_pixel_for_nn"}, {1, 2, 5, 6}, {1, 2, 7, 11});
  for (const char* rounding : {"floor", "ceil", "round_prefer_ceil"})
    check({"nearest", "half_pixel", rounding}, {1, 2, 8, 6}, {1, 2, 4, 3});
  check({"nearest", "asymmetric", "floor", {1, 1, 2, 2}}, {2, 3, 5, 20}, {2, 3, 10, 40});
}

TEST(Resize, LinearAndCubicUpAndDown) {
  for (const char* mode : {"linear", "cubic"})
    for (const std::string& coordinates : kCoordinates) {
      check({mode, coordinates}, {1, 2, 5, 6}, {1, 2, 9, 13});
      check({mode, coordinates}, {1, 1, 9, 40}, {1, 1, 4, 1});
    }
}

TEST(Resize, CubicWithExcludeOutsideAndFourLinearAxes) {
  check({"cubic", "half_pixel", "floor", {}, true}, {1, 1, 4, 5}, {1, 1, 7, 9});
  check({"linear"}, {2, 3, 4, 5}, {4, 5, 6, 7});
}

TEST(Resize, InnerAxisKeepsItsSize) {
  check({"linear"}, {1, 3, 4, 37}, {1, 3, 9, 37});
  check({"nearest"}, {3, 4, 37}, {3, 9, 37});
}

TEST(Resize, EqualDimsAreACopy) { check({"linear"}, {2, 3, 5}, {2, 3, 5}); }

}  // namespace
}  // namespace scopevm::compiler::testing
