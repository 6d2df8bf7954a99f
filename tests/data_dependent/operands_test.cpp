// Models whose bounds, steps, axes and counts are inputs. In most models, these operands are
// constants.
#include <algorithm>
#include <limits>

#include "tests/data_dependent/model.h"

namespace scopevm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

// The slice of 0, 1, ..., size - 1 by ONNX's definition.
std::vector<int64_t> sliced(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (start < 0) start += size;
  if (end < 0) end += size;
  std::vector<int64_t> taken;
  if (size == 0) return taken;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, size), end = std::clamp<int64_t>(end, 0, size);
    for (int64_t at = start; at < end; at += std::min(step, end - at)) taken.push_back(at);
  } else {
    start = std::clamp<int64_t>(start, 0, size - 1), end = std::clamp<int64_t>(end, -1, size - 1);
    for (int64_t at = start; at > end; at += std::max(step, end - at)) taken.push_back(at);
  }
  return taken;
}

Tensor counting(int64_t size) {
  std::vector<int64_t> elements;
  for (int64_t i = 0; i < size; ++i) elements.push_back(i);
  return integers(elements);
}

const std::vector<int64_t> kIndices = {kLeast, -kGreatest, -6, -5, -4, -2, -1,
                                       0,      1,          3,  4,  5,  9,  kGreatest};

TEST(Slice, BoundsAtRunTime) {
  Graph graph = model("slice_bounds");
  for (int64_t size : {1, 4, 5})
    for (int64_t start : kIndices)
      for (int64_t end : kIndices) {
        auto results = graph.run({counting(size), integers({start}), integers({end})});
        ASSERT_EQ(results.size(), 2u);
        EXPECT_EQ(integers_of(results[0]), sliced(size, start, end, 2)) << start << " " << end;
        EXPECT_EQ(integers_of(results[1]), sliced(size, start, end, -1)) << start << " " << end;
      }
}

TEST(Slice, AllParametersAtRunTime) {
  Graph graph = model("slice_all");
  for (int64_t size : {1, 5})
    for (int64_t start : kIndices)
      for (int64_t end : kIndices)
        for (int64_t step :
             {kLeast, int64_t{-9}, int64_t{-2}, int64_t{-1}, int64_t{1}, int64_t{3}, kGreatest}) {
          auto results = graph.run({counting(size), integers({start}), integers({end}),
                                    integers({start % 2 == 0 ? 0 : -1}), integers({step})});
          ASSERT_EQ(results.size(), 1u);
          EXPECT_EQ(integers_of(results[0]), sliced(size, start, end, step))
              << size << " [" << start << ":" << end << ":" << step << "]";
        }
}

TEST(Slice, StepsOfZeroAndAxesOutOfRangeAreErrors) {
  Graph graph = model("slice_all");
  auto inputs = [](int64_t axis, int64_t step) {
    return std::vector<Tensor>{counting(4), integers({0}), integers({4}), integers({axis}),
                               integers({step})};
  };
  expect_refused(graph, inputs(0, 0), "a step is 0");
  expect_refused(graph, inputs(1, 1), "its axes must be distinct and in range for rank 1");
  expect_refused(graph, inputs(-2, 1), "its axes must be distinct and in range for rank 1");
  EXPECT_THAT(integers_of(graph.run(inputs(-1, 3))[0]), ElementsAre(0, 3));
}

TEST(Slice, AxisAtRunTime) {
  Graph graph = model("slice_axes");
  Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  auto run = [&](int64_t axis) {
    return elements(graph.run({x, integers({1}), integers({9}), integers({axis})})[0]);
  };
  EXPECT_THAT(run(0), ElementsAre(4, 5, 6));
  EXPECT_THAT(run(1), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(run(-2), ElementsAre(4, 5, 6));
}

TEST(Reduce, AxesAtRunTime) {
  Graph graph = model("reduce");
  Tensor x = floats({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  for (int64_t a = -3; a < 3; ++a)
    for (int64_t b = -3; b < 3; ++b) {
      if ((a + 3) % 3 == (b + 3) % 3) {
        expect_refused(graph, {x, integers({a, b})},
                       "its axes must be distinct and in range for rank 3");
        continue;
      }
      auto results = graph.run({x, integers({a, b})});
      ASSERT_EQ(results.size(), 3u);
      int64_t left = 3 - (a + 3) % 3 - (b + 3) % 3;
      std::vector<int64_t> kept = {1, 1, 1};
      kept[static_cast<size_t>(left)] = x.dims()[static_cast<size_t>(left)];
      std::vector<float> sums = left == 0   ? std::vector<float>{6, 15}
                                : left == 1 ? std::vector<float>{21}
                                            : std::vector<float>{5, 7, 9};
      EXPECT_EQ(dims(results[0]), kept);
      EXPECT_EQ(dims(results[1]), std::vector<int64_t>{kept[static_cast<size_t>(left)]});
      for (const Tensor& result : results) EXPECT_EQ(elements(result), sums);
    }
  expect_refused(graph, {x, integers({0, 3})}, "1 of 2 are");
  expect_refused(graph, {x, integers({kGreatest, -kGreatest})}, "0 of 2 are");
}

TEST(Squeeze, AxisAtRunTime) {
  Graph graph = model("squeeze");
  Tensor x = floats({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(dims(graph.run({x, integers({1})})[0]), ElementsAre(2, 3));
  EXPECT_THAT(dims(graph.run({x, integers({-2})})[0]), ElementsAre(2, 3));
  expect_refused(graph, {x, integers({0})}, "a squeezed dim is 2, expected 1");
  expect_refused(graph, {x, integers({3})}, "its axes must be distinct and in range for rank 3");
  EXPECT_THAT(dims(graph.run({floats({1, 1, 2}, {1, 2}), integers({0})})[0]), ElementsAre(1, 2));
}

TEST(Squeeze, WithoutAxesARunTimeDimIsKept) {
  Graph graph = model("squeeze_ones");
  EXPECT_THAT(dims(graph.run({floats({1, 3, 1}, {1, 2, 3})})[0]), ElementsAre(3));
  expect_refused(graph, {floats({1, 1, 1}, {1})}, "must not be 1");
  EXPECT_THAT(elements(graph.run({floats({1, 2, 1}, {1, 2})})[0]), ElementsAre(1, 2));
}

TEST(Unsqueeze, AxesAtRunTime) {
  Graph graph = model("unsqueeze");
  Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  auto run = [&](int64_t a, int64_t b) { return dims(graph.run({x, integers({a, b})})[0]); };
  EXPECT_THAT(run(0, 1), ElementsAre(1, 1, 2, 3));
  EXPECT_THAT(run(3, 1), ElementsAre(2, 1, 3, 1));
  EXPECT_THAT(run(-1, -4), ElementsAre(1, 2, 3, 1));
  expect_refused(graph, {x, integers({4, 0})}, "its axes must be distinct and in range for rank 4");
  expect_refused(graph, {x, integers({1, -3})},
                 "its axes must be distinct and in range for rank 4");
}

TEST(CumSum, AxisAtRunTime) {
  Graph graph = model("cumsum");
  Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(elements(graph.run({x, integer(0)})[0]), ElementsAre(1, 2, 3, 5, 7, 9));
  EXPECT_THAT(elements(graph.run({x, integer(-1)})[0]), ElementsAre(1, 3, 6, 4, 9, 15));
  expect_refused(graph, {x, integer(2)}, "its axes must be distinct and in range for rank 2");
}

TEST(TopK, KAtRunTime) {
  Graph graph = model("top_k");
  Tensor x = floats({3, 9, 5});
  EXPECT_THAT(elements(graph.run({x, integers({2})})[0]), ElementsAre(9, 5));
  EXPECT_THAT(elements(graph.run({x, integers({0})})[0]), IsEmpty());
  EXPECT_THAT(integers_of(graph.run({x, integers({3})})[1]), ElementsAre(1, 2, 0));
  expect_refused(graph, {x, integers({4})}, "k is 4, above the 3 elements along its axis");
  expect_refused(graph, {x, integers({kGreatest})}, "above the 3 elements along its axis");
  expect_refused(graph, {x, integers({-1})}, "is -1, below 0");
  EXPECT_THAT(elements(graph.run({floats({1, 2}), integers({1})})[0]), ElementsAre(2));
}

TEST(Split, SizesAtRunTime) {
  Graph graph = model("split");
  Tensor x = floats({1, 2, 3});
  auto results = graph.run({x, integers({1, 2})});
  EXPECT_THAT(elements(results[0]), ElementsAre(1));
  EXPECT_THAT(elements(results[1]), ElementsAre(2, 3));
  EXPECT_THAT(elements(graph.run({x, integers({3, 0})})[1]), IsEmpty());
  expect_refused(graph, {x, integers({1, 1})}, "the parts add up to 2, but the dim is 3");
  expect_refused(graph, {x, integers({2, 2})}, "the parts add up to 4, but the dim is 3");
  expect_refused(graph, {x, integers({4, -1})}, "below 0");
}

TEST(Split, EqualPartsAtRunTime) {
  Graph graph = model("split_equal");
  auto results = graph.run({floats({1, 2, 3, 4})});
  EXPECT_THAT(elements(results[0]), ElementsAre(1, 2));
  EXPECT_THAT(elements(results[1]), ElementsAre(3, 4));
  expect_refused(graph, {floats({1, 2, 3})}, "the parts add up to 2, but the dim is 3");
}

TEST(Pad, AxesAtRunTime) {
  Graph graph = model("pad_axes");
  Tensor x = floats({1, 2}, {1, 2});
  auto run = [&](int64_t before, int64_t after, int64_t axis) {
    return elements(graph.run({x, integers({before, after}), integers({axis})})[0]);
  };
  EXPECT_THAT(run(1, 2, 1), ElementsAre(0, 1, 2, 0, 0));
  EXPECT_THAT(run(0, 1, -2), ElementsAre(1, 2, 0, 0));
  EXPECT_THAT(run(-1, 1, 1), ElementsAre(2, 0));
  EXPECT_THAT(run(-2, 0, 1), IsEmpty());
  expect_refused(graph, {x, integers({0, 0}), integers({2})},
                 "must be distinct and in range for rank 2");
  EXPECT_FALSE(graph.status_of({x, integers({-2, -1}), integers({1})}).ok());
}

TEST(Trilu, DiagonalAtRunTime) {
  Graph graph = model("trilu");
  Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(elements(graph.run({x, integer(0)})[0]), ElementsAre(1, 2, 3, 0, 5, 6));
  EXPECT_THAT(elements(graph.run({x, integer(2)})[0]), ElementsAre(0, 0, 3, 0, 0, 0));
  EXPECT_THAT(elements(graph.run({x, integer(-7)})[0]), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Trilu, DiagonalIsADim) {
  Graph graph = model("trilu_of_dims");
  Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(elements(graph.run({x, floats({1}, {0})})[0]), ElementsAre(0, 2, 3, 0, 0, 6));
  EXPECT_THAT(elements(graph.run({x, floats({2}, {0, 0})})[0]), ElementsAre(0, 0, 3, 0, 0, 0));
}

TEST(OneHot, DepthAtRunTime) {
  Graph graph = model("one_hot");
  Tensor x = integers({1, -1, 5}), values = floats({0, 9});
  Tensor result = graph.run({x, floats({}, {2}), values})[0];
  EXPECT_THAT(dims(result), ElementsAre(3, 2));
  EXPECT_THAT(elements(result), ElementsAre(0, 9, 0, 9, 0, 0));
  EXPECT_THAT(dims(graph.run({x, floats({}, {0}), values})[0]), ElementsAre(3, 0));
  expect_refused(graph, {x, floats({}, {-1}), values}, "below 0");
}

}  // namespace
}  // namespace scopevm
