// The schedules of pooling.
#include "compiler/schedule/pooling.h"

#include <gtest/gtest.h>

#include "compiler/schedule/convolution.h"

namespace scopevm::compiler::schedule {
namespace {

PoolSchedule blocked(int64_t kernel, int64_t stride, int bits = 512, int64_t dilation = 1) {
  return choose_pool({.axes = {{}, {kernel, stride, dilation}, {}}, .is_blocked = true},
                     {.vector_bits = bits});
}

// A column of pixels is kept in registers for the windows that have it.
TEST(PoolSchedules, AdjacentWindowsShareTheirColumns) {
  for (int64_t kernel = 1; kernel <= 20; ++kernel)
    for (int64_t stride = 1; stride <= 20; ++stride)
      for (const int bits : {128, 256, 512}) {
        const PoolSchedule schedule = blocked(kernel, stride, bits);
        EXPECT_EQ(kChannelBlock % schedule.lanes, 0);
        EXPECT_EQ(schedule.shared_columns, kernel <= 13 ? std::max<int64_t>(kernel - stride, 0) : 0)
            << schedule.text();
        EXPECT_EQ(blocked(kernel, stride, bits, /*dilation=*/2).shared_columns, 0);
      }
}

TEST(PoolSchedules, StridedAndConvertedElementsAreComputedOneByOne) {
  const Target target;
  EXPECT_EQ(choose_pool({.axes = {{3, 2}}}, target).lanes, 16);
  EXPECT_EQ(choose_pool({.axes = {{3, 3}}}, target).lanes, 1);
  EXPECT_EQ(choose_pool({.axes = {{3, 1}}, .element_bytes = 1}, target).lanes, 64);
  EXPECT_EQ(choose_pool({.axes = {{3, 1}}, .element_bytes = 2, .is_converted = true}, target).lanes,
            1);
}

}  // namespace
}  // namespace scopevm::compiler::schedule
