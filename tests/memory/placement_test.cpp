// First fit, the lower bound, layers and the validator, for buffers with constant sizes.
#include <gtest/gtest.h>

#include <random>

#include "compiler/memory/plan.h"

namespace scopevm::compiler::memory {
namespace {

std::vector<PlannedBuffer> random_buffers(uint32_t seed, int count) {
  std::mt19937 random(seed);
  std::vector<PlannedBuffer> buffers;
  for (int i = 0; i < count; ++i) {
    auto lower = static_cast<int64_t>(random() % 50);
    buffers.push_back({i, lower, lower + 1 + static_cast<int64_t>(random() % 12),
                       static_cast<int64_t>(random() % 20) * Pool::kLeastAlignment});
  }
  return buffers;
}

TEST(Placement, FirstFitTakesTheLowestSufficientGap) {
  std::vector<PlannedBuffer> buffers = {
      {0, 0, 2, 128}, {1, 0, 4, 64}, {2, 2, 4, 64}, {3, 2, 4, 128}};
  place_first_fit(buffers, {0, 1, 2, 3});
  EXPECT_EQ(buffers[1].offset, 128);
  EXPECT_EQ(buffers[2].offset, 0);
  EXPECT_EQ(buffers[3].offset, 192) << "64 bytes are free below, which is too little";
}

TEST(Placement, LowerBoundIsTheLargestSumOfLiveBytes) {
  EXPECT_EQ(lower_bound_of({}), 0);
  EXPECT_EQ(lower_bound_of({{0, 0, 2, 128}, {1, 1, 3, 64}, {2, 2, 4, 512}}), 576);
  EXPECT_EQ(lower_bound_of({{0, 0, 2, 128}, {1, 2, 3, 128}}), 128) << "half-open";
}

TEST(Placement, BestOrderIsValidAndNotBelowTheBound) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::vector<PlannedBuffer> buffers = random_buffers(seed, 80);
    int64_t height = place_best(buffers);
    ASSERT_EQ(height, height_of(buffers));
    ASSERT_GE(height, lower_bound_of(buffers));
    ASSERT_LE(height, lower_bound_of(buffers) * 3 / 2);
    Status status = validate(buffers, height, Pool::kLeastAlignment);
    ASSERT_TRUE(status.ok()) << status.message();
  }
}

TEST(Placement, LayersReproduceTheirPlanOrALowerOne) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::vector<PlannedBuffer> buffers = random_buffers(seed, 60);
    place_best(buffers);
    std::vector<PlannedBuffer> again = buffers;
    place_by_layers(layers_of(buffers), again);
    for (size_t i = 0; i < buffers.size(); ++i) ASSERT_LE(again[i].offset, buffers[i].offset);
  }
}

TEST(Placement, LayersHoldAtAnySizes) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::vector<PlannedBuffer> buffers = random_buffers(seed, 60);
    place_best(buffers);
    Layers layers = layers_of(buffers);
    std::mt19937 random(seed);
    for (PlannedBuffer& buffer : buffers)
      buffer.size = static_cast<int64_t>(random() % 30) * Pool::kLeastAlignment;
    place_by_layers(layers, buffers);
    Status status = validate(buffers, height_of(buffers), Pool::kLeastAlignment);
    ASSERT_TRUE(status.ok()) << status.message();
  }
}

std::string error_of(std::vector<PlannedBuffer> buffers, int64_t height) {
  return std::string(validate(buffers, height, 64).message());
}

TEST(Validator, RejectsInvalidPlans) {
  EXPECT_EQ(error_of({{0, 0, 2, 64, 0}, {1, 1, 3, 64, 64}}, 128), "");
  EXPECT_EQ(error_of({{0, 0, 2, 64, 0}, {1, 2, 3, 64, 0}}, 64), "");
  EXPECT_EQ(error_of({{0, 0, 2, 128, 0}, {1, 1, 3, 64, 64}}, 128),
            "memory plan: buffer 0 overlaps buffer 1");
  EXPECT_EQ(error_of({{0, 0, 2, 64, 0}, {1, 0, 2, 0, 0}}, 64), "")
      << "an empty buffer overlaps no buffer";
  EXPECT_EQ(error_of({{0, 0, 2, 64, -1}}, 64), "memory plan: buffer 0 is at offset -1");
  EXPECT_EQ(error_of({{0, 0, 2, 64, 32}}, 96), "memory plan: buffer 0 is at offset 32");
  EXPECT_EQ(error_of({{0, 0, 2, 64, 64}}, 64),
            "memory plan: buffer 0 ends above the plan's height 64");
}

}  // namespace
}  // namespace scopevm::compiler::memory
