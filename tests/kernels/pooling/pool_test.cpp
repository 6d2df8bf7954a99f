// Compares max_pool and average_pool with loops over every window.
#include <cmath>
#include <limits>
#include <random>

#include "tests/kernels/oracle.h"
#include "tests/kernels/run_text.h"

namespace scopevm::compiler::testing {
namespace {

struct Window {
  Index kernel, strides, pads, dilations;
  bool ceil_mode = false;
  bool count_pads = false;
  size_t rank() const { return kernel.size(); }
};

Index pooled_dims(const Window& w, const Index& x) {
  Index y = {x[0], x[1]};
  for (size_t d = 0; d < w.rank(); ++d) {
    int64_t room =
        x[d + 2] + w.pads[d] + w.pads[w.rank() + d] - ((w.kernel[d] - 1) * w.dilations[d] + 1);
    int64_t out = (room + (w.ceil_mode ? w.strides[d] - 1 : 0)) / w.strides[d] + 1;
    // With ceil_mode, the last window is dropped if it starts at or after the end of x.
    if (w.ceil_mode && (out - 1) * w.strides[d] >= x[d + 2] + w.pads[d]) --out;
    y.push_back(out);
  }
  return y;
}

Array pooled(const Window& w, const Array& x, bool is_max) {
  Index y = pooled_dims(w, x.dims);
  std::vector<float> values;
  for_each_index(y, [&](const Index& i) {
    float best = -std::numeric_limits<float>::infinity();
    double sum = 0;
    int64_t taps = 0;
    for_each_index(w.kernel, [&](const Index& tap) {
      Index at = {i[0], i[1]};
      bool inside = true, counted = true;
      for (size_t d = 0; d < w.rank(); ++d) {
        at.push_back(i[d + 2] * w.strides[d] - w.pads[d] + tap[d] * w.dilations[d]);
        inside = inside && at.back() >= 0 && at.back() < x.dims[d + 2];
        counted = counted && at.back() < x.dims[d + 2] + w.pads[w.rank() + d];
      }
      if (inside) best = std::max(best, element<float>(x, at));
      if (inside) sum += element<float>(x, at);
      taps += w.count_pads ? counted : inside;
    });
    values.push_back(is_max ? best : static_cast<float>(sum / static_cast<double>(taps)));
  });
  return Array::of(DType::kF32, y, values);
}

void check(const Window& w, const std::vector<Index>& spatial) {
  for (const Index& dims : spatial)
    for (const std::string& cpu : kCpus)
      for (bool is_max : {true, false}) {
        Index x_dims = {2, 3};
        x_dims.insert(x_dims.end(), dims.begin(), dims.end());
        Array x = random_f32(x_dims, 7);
        auto type = [](const Index& shape) {
          std::string text = "f32[";
          for (size_t d = 0; d < shape.size(); ++d)
            text += (d ? ", " : "") + std::to_string(shape[d]);
          return text + "]";
        };
        std::string attributes = "kernel = " + list(w.kernel) + ", strides = " + list(w.strides) +
                                 ", pads = " + list(w.pads) + ", dilations = " + list(w.dilations) +
                                 ", ceil_mode = " + (w.ceil_mode ? "true" : "false");
        if (!is_max)
          attributes += std::string(", count_pads = ") + (w.count_pads ? "true" : "false");
        CompiledOp op({is_max ? "max_pool" : "average_pool",
                       attributes,
                       {type(x_dims)},
                       {type(pooled_dims(w, x_dims))}},
                      cpu);
        SCOPED_TRACE(attributes + " " + type(x_dims) + " " + cpu);
        auto outputs = op({x});
        ASSERT_EQ(outputs.size(), 1u);
        expect_near(outputs[0], pooled(w, x, is_max), is_max ? 0 : 1e-6f);
      }
}

TEST(Pool, TwoSpatialDimsWithStrideOne) {
  check({{3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}}, {{1, 1}, {7, 40}, {16, 17}});
  check({{2, 5}, {1, 1}, {0, 0, 0, 0}, {1, 1}, false, true}, {{2, 5}, {5, 70}});
}

TEST(Pool, TwoSpatialDimsWithStrideTwo) {
  check({{3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}}, {{7, 9}, {56, 56}, {12, 112}});
  check({{2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}, false, true}, {{2, 2}, {8, 33}, {8, 64}, {8, 65}});
}

TEST(Pool, CeilModeCountsOnlyPositionsWithinThePads) {
  check({{3, 3}, {2, 2}, {1, 0, 0, 1}, {1, 1}, true, true}, {{6, 8}, {9, 37}});
  check({{3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, true, false}, {{6, 8}, {9, 37}});
}

TEST(Pool, StrideThreeAndDilation) {
  check({{3, 2}, {3, 3}, {0, 1, 0, 1}, {1, 1}}, {{9, 50}});
  check({{2, 3}, {1, 1}, {1, 2, 1, 2}, {2, 2}, false, true}, {{6, 45}});
}

TEST(Pool, OneAndThreeSpatialDims) {
  check({{4}, {1}, {1, 2}, {1}}, {{4}, {100}});
  check({{2}, {2}, {0, 1}, {1}}, {{4}, {101}});
  check({{2, 3, 2}, {1, 2, 2}, {0, 1, 0, 1, 1, 1}, {1, 1, 1}}, {{3, 6, 40}});
}

// The last axis is the 16 channels of a block. Adjacent windows share columns of pixels.
TEST(Pool, PixelsOfBlockedImages) {
  check({{3, 3, 1}, {1, 1, 1}, {1, 1, 0, 1, 1, 0}, {1, 1, 1}}, {{1, 1, 16}, {5, 9, 16}});
  check({{13, 13, 1}, {1, 1, 1}, {6, 6, 0, 6, 6, 0}, {1, 1, 1}}, {{20, 20, 16}});
  check({{2, 40, 1}, {1, 38, 1}, {0, 1, 0, 0, 1, 0}, {1, 1, 1}}, {{3, 120, 16}});
  std::mt19937 random(5);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 6; ++i) {
    Window w{{}, {}, Index(6, 0), {}, pick(0, 1) == 1, pick(0, 1) == 1};
    Index size;
    for (size_t axis = 0; axis < 2; ++axis) {
      w.kernel.push_back(pick(1, 6));
      w.strides.push_back(pick(1, 3));
      w.dilations.push_back(pick(1, 3) / 2 + 1);
      for (const size_t side : {axis, axis + 3}) w.pads[side] = pick(0, w.kernel.back() - 1);
      size.push_back((w.kernel.back() - 1) * w.dilations.back() + pick(1, 12));
    }
    for (Index* values : {&w.kernel, &w.strides, &w.dilations}) values->push_back(1);
    size.push_back(16);
    check(w, {size});
    if (HasFailure()) return;
  }
}

TEST(Pool, DimsAtRunTimeAndEmptyBatch) {
  CompiledOp op({"max_pool",
                 "kernel = array<i64: 2, 2>, strides = array<i64: 2, 1>, "
                 "pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>",
                 {"f32[n, 3, h, w]"},
                 {"f32[n, 3, \"floordiv(h-2, 2)+1\", \"w-1\"]"}});
  Window w{{2, 2}, {2, 1}, {0, 0, 0, 0}, {1, 1}};
  for (const Index& dims : {Index{2, 3, 6, 41}, {1, 3, 7, 2}, {0, 3, 8, 8}}) {
    Array x = random_f32(dims, 3);
    auto outputs = op({x});
    ASSERT_EQ(outputs.size(), 1u);
    expect_near(outputs[0], pooled(w, x, true), 0);
  }
}

TEST(Pool, BytesCompareBySignedness) {
  for (DType dtype : {DType::kU8, DType::kI8}) {
    std::string element_type(name(dtype));
    CompiledOp op({"max_pool",
                   "kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, "
                   "dilations = array<i64: 1>",
                   {element_type + "[1, 1, 200]"},
                   {element_type + "[1, 1, 100]"}});
    Array x{dtype, {1, 1, 200}, {}};
    for (int i = 0; i < 200; ++i) x.bytes.push_back(static_cast<uint8_t>(i * 37));
    auto outputs = op({x});
    ASSERT_EQ(outputs.size(), 1u);
    for (size_t i = 0; i < 100; ++i) {
      uint8_t a = x.bytes[2 * i], b = x.bytes[2 * i + 1];
      uint8_t expected =
          dtype == DType::kU8
              ? std::max(a, b)
              : static_cast<uint8_t>(std::max(static_cast<int8_t>(a), static_cast<int8_t>(b)));
      ASSERT_EQ(outputs[0].bytes[i], expected);
    }
  }
}

}  // namespace
}  // namespace scopevm::compiler::testing
