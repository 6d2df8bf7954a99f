// Results with data-dependent sizes. One Call runs several requests with different data.
#include <cmath>
#include <limits>

#include "tests/data_dependent/model.h"

namespace scopevm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(NonZero, CountChangesWithEachRequest) {
  Graph graph = model("nonzero");
  EXPECT_THAT(integers_of(graph.run({floats({2, 3}, {1, 0, 2, 0, 0, 3})})[0]),
              ElementsAre(0, 0, 1, 0, 2, 2));
  Tensor none = graph.run({floats({2, 2}, {0, 0, 0, 0})})[0];
  EXPECT_THAT(dims(none), ElementsAre(2, 0));
  EXPECT_THAT(integers_of(graph.run({floats({1, 2}, {0, 5})})[0]), ElementsAre(0, 1));
  // Enough elements for more than one block.
  std::vector<float> many(30000, 0);
  many[0] = many[4095] = many[4096] = many[29999] = 1;
  EXPECT_THAT(integers_of(graph.run({floats({3, 10000}, many)})[0]),
              ElementsAre(0, 0, 0, 2, 0, 4095, 4096, 9999));
}

TEST(Compress, ConditionMayBeShorterThanTheAxis) {
  Graph graph = model("compress");
  Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(elements(graph.run({x, booleans({true, false, true})})[0]), ElementsAre(1, 3, 4, 6));
  EXPECT_THAT(elements(graph.run({x, booleans({false, true})})[0]), ElementsAre(2, 5));
  EXPECT_THAT(dims(graph.run({x, booleans({false, false, false})})[0]), ElementsAre(2, 0));
  EXPECT_THAT(elements(graph.run({x, booleans({true, true, true, true, true})})[0]),
              ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Unique, InOrderOfFirstOccurrence) {
  Graph graph = model("unique");
  std::vector<Tensor> results = graph.run({floats({2, 1, 1, 3, 4, 3})});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_THAT(elements(results[0]), ElementsAre(2, 1, 3, 4));
  EXPECT_THAT(integers_of(results[1]), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(integers_of(results[2]), ElementsAre(0, 1, 1, 2, 3, 2));
  EXPECT_THAT(integers_of(results[3]), ElementsAre(1, 2, 2, 1));
  results = graph.run({floats({7, 7, 7})});
  EXPECT_THAT(elements(results[0]), ElementsAre(7));
  EXPECT_THAT(integers_of(results[3]), ElementsAre(3));
}

TEST(NonMaxSuppression, LimitsAndThresholdsAtRunTime) {
  Graph graph = model("suppression");
  Tensor boxes = floats({1, 3, 4}, {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, 10, 1, 11});
  Tensor scores = floats({1, 2, 3}, {0.9f, 0.8f, 0.7f, 0.1f, 0.8f, 0.3f});
  auto run = [&](int64_t most, float iou, float least) {
    return graph.run({boxes, scores, integers({most}), floats({iou}), floats({least})})[0];
  };
  EXPECT_THAT(integers_of(run(5, 0.5f, 0)), ElementsAre(0, 0, 0, 0, 0, 2, 0, 1, 1, 0, 1, 2));
  EXPECT_THAT(integers_of(run(1, 0.5f, 0)), ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_THAT(integers_of(run(5, 0.5f, 0.75f)), ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_EQ(run(5, 1, 0).element_count(), 18);
  EXPECT_THAT(dims(run(5, 0.5f, 2)), ElementsAre(0, 3));
  EXPECT_THAT(dims(run(0, 0.5f, 0)), ElementsAre(0, 3));
  EXPECT_THAT(dims(run(-1, 0.5f, 0)), ElementsAre(0, 3));
  EXPECT_EQ(run(std::numeric_limits<int64_t>::max(), 1, 0).element_count(), 18);
}

TEST(NonMaxSuppression, BoxesAndScoresMustAgree) {
  Graph graph = model("suppression");
  Tensor boxes = floats({1, 2, 4}, {0, 0, 1, 1, 0, 5, 1, 6}), one = floats({0.5f});
  EXPECT_FALSE(
      graph.status_of({boxes, floats({1, 1, 3}, {1, 2, 3}), integers({9}), one, one}).ok());
}

TEST(Range, OfFloats) {
  Graph graph = model("range_f32");
  auto run = [&](float start, float limit, float delta) {
    return elements(graph.run({floats({}, {start}), floats({}, {limit}), floats({}, {delta})})[0]);
  };
  EXPECT_THAT(run(1, 5, 2), ElementsAre(1, 3));
  EXPECT_THAT(run(0, 1, 0.3f), ElementsAre(0, 0.3f, 0.6f, 3 * 0.3f));
  EXPECT_THAT(run(2, -1, -1.5f), ElementsAre(2, 0.5f));
  EXPECT_THAT(run(0, -1, 1), IsEmpty());
  EXPECT_THAT(run(1, 1, 1), IsEmpty());
}

TEST(Range, OfIntegers) {
  Graph graph = model("range_i64");
  auto run = [&](int64_t start, int64_t limit, int64_t delta) {
    return integers_of(graph.run({integer(start), integer(limit), integer(delta)})[0]);
  };
  for (int64_t start = -4; start <= 4; ++start)
    for (int64_t limit = -4; limit <= 4; ++limit)
      for (int64_t delta : {-5, -3, -2, -1, 1, 2, 3, 5}) {
        std::vector<int64_t> expected;
        for (int64_t at = start; delta > 0 ? at < limit : at > limit; at += delta)
          expected.push_back(at);
        EXPECT_EQ(run(start, limit, delta), expected) << start << " " << limit << " " << delta;
      }
}

// The distances exceed 64 bits.
TEST(Range, OfExtremeIntegers) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
  Graph graph = model("range_i64");
  auto run = [&](int64_t start, int64_t limit, int64_t delta) {
    return integers_of(graph.run({integer(start), integer(limit), integer(delta)})[0]);
  };
  constexpr int64_t k61 = int64_t{1} << 61, k62 = int64_t{1} << 62;
  const std::vector<int64_t> quarters = {kLeast, -k62, 0, k62};
  EXPECT_THAT(run(-k62, k62, k61), ElementsAre(-k62, -k61, 0, k61));
  EXPECT_THAT(run(10, 0, kLeast), ElementsAre(10));
  EXPECT_THAT(run(kLeast, kGreatest, k62), quarters);
  EXPECT_THAT(run(kLeast, kGreatest, kGreatest), ElementsAre(kLeast, -1, kGreatest - 1));
  EXPECT_THAT(run(kGreatest, kLeast, kLeast), ElementsAre(kGreatest, -1));
  EXPECT_THAT(run(kGreatest, kLeast, 1), IsEmpty());
  EXPECT_THAT(run(kLeast, kGreatest, -1), IsEmpty());
  EXPECT_THAT(run(kGreatest - 2, kGreatest, 1), ElementsAre(kGreatest - 2, kGreatest - 1));
  EXPECT_FALSE(graph.status_of({integer(kLeast), integer(kGreatest), integer(1)}).ok());
  // A constant delta, and constants only.
  Graph constants = model("range_extremes");
  const std::vector<Tensor> results = constants.run({integer(kLeast)});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_THAT(integers_of(results[0]), quarters);
  EXPECT_THAT(integers_of(results[1]), quarters);
  EXPECT_THAT(integers_of(results[2]), ElementsAre(10));
  EXPECT_THAT(integers_of(results[3]), ElementsAre(-k62, -k61, 0, k61));
}

TEST(Range, ZeroDeltaAndHugeSizesAreErrors) {
  Graph integers = model("range_i64"), reals = model("range_f32");
  auto real = [](float value) { return floats({}, {value}); };
  expect_refused(integers, {integer(0), integer(5), integer(0)}, "delta is 0");
  expect_refused(reals, {real(0), real(5), real(0)}, "delta is 0");
  expect_refused(reals, {real(0), real(NAN), real(1)}, "delta is 0, or a bound is not a number");
  EXPECT_FALSE(reals.status_of({real(0), real(INFINITY), real(1)}).ok());
  EXPECT_FALSE(integers.status_of({integer(0), integer(int64_t{1} << 62), integer(1)}).ok());
  EXPECT_THAT(integers_of(integers.run({integer(0), integer(2), integer(1)})[0]),
              ElementsAre(0, 1));
}

TEST(Segments, ConsecutiveSegments) {
  Graph graph = model("positive");
  EXPECT_THAT(elements(graph.run({floats({1, -1, 2, 0, 3})})[0]), ElementsAre(2, 5, 8));
  EXPECT_THAT(elements(graph.run({floats({-1, -2})})[0]), IsEmpty());
  EXPECT_THAT(elements(graph.run({floats({4})})[0]), ElementsAre(8));
}

}  // namespace
}  // namespace scopevm
