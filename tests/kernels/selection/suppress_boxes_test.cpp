// suppress_boxes (non-maximum suppression) selects the expected boxes.
#include <algorithm>
#include <numeric>

#include "tests/kernels/oracle.h"

namespace scopevm::compiler::testing {
namespace {

struct BoxCase {
  std::vector<float> boxes;  // four numbers per box, one image
  std::vector<float> scores;
  float overlap, least;  // thresholds of the overlap and of the score
  int64_t limit;         // the largest number of selected boxes
  bool centered = false;
};

void check_boxes(const BoxCase& c, const std::vector<int64_t>& expected) {
  auto n = static_cast<int64_t>(c.scores.size());
  std::vector<int64_t> order(c.scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return c.scores[static_cast<size_t>(j)] < c.scores[static_cast<size_t>(i)];
  });
  std::vector<float> ranked;
  for (int64_t i : order) ranked.push_back(c.scores[static_cast<size_t>(i)]);
  std::string limit = std::to_string(c.limit);
  CompiledOp op({"suppress_boxes",
                 "limit = #sv.dims<[" + limit + "]>, centered = " + (c.centered ? "true" : "false"),
                 {"f32[1, n, 4]", "f32[1, 1, n]", "i64[1, 1, n]", "f32[]", "f32[]"},
                 {"i64[1, 1, \"min(" + limit + ", n)\"]", "i64[1, 1]"}});
  auto outputs =
      op({Array::of(DType::kF32, {1, n, 4}, c.boxes), Array::of(DType::kF32, {1, 1, n}, ranked),
          of_i64({1, 1, n}, order), Array::of<float>(DType::kF32, {}, {c.overlap}),
          Array::of<float>(DType::kF32, {}, {c.least})});
  ASSERT_EQ(outputs.size(), 2u);
  ASSERT_EQ(outputs[1].as<int64_t>()[0], static_cast<int64_t>(expected.size()));
  auto kept = outputs[0].as<int64_t>();
  kept.resize(expected.size());
  EXPECT_EQ(kept, expected);
}

const std::vector<float> kBoxes = {0, 0,  1, 1,  0, 0.1f,  1, 1.1f,  0, -0.1f, 1, 0.9f,
                                   0, 10, 1, 11, 1, 11.1f, 0, 10.1f, 0, 100,   1, 101};

TEST(SuppressBoxes, KeepsTheBestOfOverlappingBoxes) {
  check_boxes({kBoxes, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f}, 0.5f, 0, 9}, {3, 0, 5});
  check_boxes({kBoxes, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f}, 0.5f, 0, 2}, {3, 0});
  check_boxes({kBoxes, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f}, 0.5f, 0.4f, 9}, {3, 0});
  check_boxes({kBoxes, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f}, 1, 0, 9}, {3, 0, 1, 2, 4, 5});
}

TEST(SuppressBoxes, NoBoxesOrNoneAboveTheThreshold) {
  check_boxes({kBoxes, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f}, 0.5f, 2, 9}, {});
  check_boxes({kBoxes, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f}, 0.5f, 0, 0}, {});
  check_boxes({{}, {}, 0.5f, 0, 9}, {});
}

TEST(SuppressBoxes, CenteredBoxesAndBoxesWithoutArea) {
  check_boxes(
      {{0.5f, 0.5f, 1, 1, 0.5f, 0.6f, 1, 1, 0.5f, 10.5f, 1, 1}, {1, 2, 3}, 0.5f, 0, 9, true},
      {2, 1});
  check_boxes({{0, 0, 0, 0, 0, 0, 0, 0}, {1, 2}, 0, 0, 9}, {1, 0});
}

}  // namespace
}  // namespace scopevm::compiler::testing
