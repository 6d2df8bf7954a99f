// Compares roi_align with a direct implementation of ONNX's definition.
#include <cmath>
#include <limits>

#include "tests/kernels/oracle.h"

namespace scopevm::compiler::testing {
namespace {

struct Grid {
  int64_t height = 2, width = 3, samples = 0;
  float scale = 1, offset = 0.5f;
  float min_size = std::numeric_limits<float>::lowest();
  bool greatest = false;
};

// The four neighbours of a point in one plane of x, times their bilinear weights. For a point
// outside the plane, the result is one zero.
std::vector<double> neighbours(const Array& x, int64_t image, int64_t channel, double row,
                               double column) {
  int64_t height = x.dims[2], width = x.dims[3];
  auto limit = [](int64_t size) { return static_cast<double>(size); };
  if (!(row >= -1 && row <= limit(height) && column >= -1 && column <= limit(width))) return {0};
  row = std::max(row, 0.0), column = std::max(column, 0.0);
  auto i = std::min(static_cast<int64_t>(row), height - 1);
  auto j = std::min(static_cast<int64_t>(column), width - 1);
  double v = i < height - 1 ? row - limit(i) : 0, u = j < width - 1 ? column - limit(j) : 0;
  int64_t below = std::min(i + 1, height - 1), right = std::min(j + 1, width - 1);
  auto at = [&](int64_t a, int64_t b) { return element<float>(x, {image, channel, a, b}); };
  return {(1 - v) * (1 - u) * at(i, j), (1 - v) * u * at(i, right), v * (1 - u) * at(below, j),
          v * u * at(below, right)};
}

Array aligned(const Grid& g, const Array& x, const std::vector<float>& boxes,
              const std::vector<int64_t>& images) {
  Index dims = {static_cast<int64_t>(images.size()), x.dims[1], g.height, g.width};
  std::vector<float> values;
  for_each_index(dims, [&](const Index& at) {
    auto corner = [&](int64_t i) {
      return boxes[static_cast<size_t>(at[0] * 4 + i)] * g.scale - g.offset;
    };
    double least = g.min_size;
    double cell_height = std::max<double>(corner(3) - corner(1), least) / double(g.height);
    double cell_width = std::max<double>(corner(2) - corner(0), least) / double(g.width);
    auto points = [&](double size) {
      return g.samples ? g.samples : std::max<int64_t>(0, static_cast<int64_t>(std::ceil(size)));
    };
    int64_t rows = points(cell_height), columns = points(cell_width);
    double sum = 0, best = -std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        double row = corner(1) + (double(at[2]) + (double(i) + 0.5) / double(rows)) * cell_height;
        double column =
            corner(0) + (double(at[3]) + (double(j) + 0.5) / double(columns)) * cell_width;
        for (double term : neighbours(x, images[static_cast<size_t>(at[0])], at[1], row, column)) {
          sum += term;
          best = std::max(best, term);
        }
      }
    int64_t count = rows * columns;
    values.push_back(static_cast<float>(count == 0 ? 0 : g.greatest ? best : sum / double(count)));
  });
  return Array::of(DType::kF32, dims, values);
}

CompiledOp roi_align(const Grid& g) {
  auto integer = [](int64_t value) { return std::to_string(value) + " : i64"; };
  auto real = [](float value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.9e : f32", static_cast<double>(value));
    return std::string(text);
  };
  std::string grid = std::to_string(g.height) + ", " + std::to_string(g.width);
  return CompiledOp({"roi_align",
                     "height = " + integer(g.height) + ", width = " + integer(g.width) +
                         ", samples = " + integer(g.samples) + ", scale = " + real(g.scale) +
                         ", offset = " + real(g.offset) + ", min_size = " + real(g.min_size) +
                         ", greatest = " + (g.greatest ? "true" : "false"),
                     {"f32[b, c, h, w]", "f32[k, 4]", "i64[k]"},
                     {"f32[k, c, " + grid + "]"}});
}

void check_roi(const Grid& g, const Array& x, const std::vector<float>& boxes,
               const std::vector<int64_t>& images) {
  auto k = static_cast<int64_t>(images.size());
  auto outputs = roi_align(g)({x, Array::of(DType::kF32, {k, 4}, boxes), of_i64({k}, images)});
  ASSERT_EQ(outputs.size(), 1u);
  expect_near(outputs[0], aligned(g, x, boxes, images), 1e-4f);
}

const std::vector<float> kBoxes = {1, 1, 7, 6, -3, 2, 4, 20, 0.5f, 0.25f, 0.8f, 0.3f, 2, 3, 14, 9};

TEST(RoiAlign, SampleCountFollowsTheBoxSize) {
  check_roi({}, random_f32({2, 3, 7, 9}, 5), kBoxes, {0, 1, 1, 0});
}

TEST(RoiAlign, FixedSamplesWithScaleWithoutOffset) {
  check_roi({.height = 3, .width = 1, .samples = 2, .scale = 0.5f, .offset = 0, .min_size = 1},
            random_f32({2, 3, 7, 9}, 6), kBoxes, {1, 1, 0, 0});
}

TEST(RoiAlign, MaximumInsteadOfMean) {
  check_roi({.samples = 3, .greatest = true}, random_f32({2, 2, 5, 5}, 7), kBoxes, {0, 1, 1, 0});
}

TEST(RoiAlign, InvalidBoxesGiveZeros) {
  float nan = std::numeric_limits<float>::quiet_NaN(), far = 1e30f;
  std::vector<float> boxes = {nan, nan, nan, nan, -far, -far, far, far,
                              5,   5,   1,   1,   far,  far,  far, far};
  auto outputs =
      roi_align({.samples = 0})({random_f32({1, 1, 4, 4}, 8), Array::of(DType::kF32, {4, 4}, boxes),
                                 of_i64({4}, {0, 9, -7, 0})});
  ASSERT_EQ(outputs.size(), 1u);
  for (float value : outputs[0].as<float>()) EXPECT_EQ(value, 0);
}

TEST(RoiAlign, EmptyImagesGiveZeros) {
  check_roi({.samples = 1}, random_f32({1, 2, 3, 4}, 9), {}, {});
  auto outputs = roi_align({.samples = 1})({random_f32({1, 1, 0, 4}, 9),
                                            Array::of(DType::kF32, {1, 4}, std::vector<float>(4)),
                                            of_i64({1}, {0})});
  ASSERT_EQ(outputs.size(), 1u);
  for (float value : outputs[0].as<float>()) EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace scopevm::compiler::testing
