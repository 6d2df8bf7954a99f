// The sizes of joined calls, for models with different times.
#include "tools/serve/model/batch_size.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace scopevm::serve {
namespace {

using Time = std::function<int64_t(int64_t rows)>;  // of a call, in nanoseconds

// The mean number of rows of `calls` calls, while `waiting` rows wait.
double mean_rows(BatchSize& size, int64_t waiting, int calls, const Time& time) {
  int64_t sum = 0;
  for (int i = 0; i < calls; ++i) {
    const int64_t rows = std::min(size.next(waiting), waiting);
    size.add(rows, 8 * rows, time(rows));
    sum += rows;
  }
  return static_cast<double>(sum) / calls;
}

int64_t with_fixed_cost(int64_t rows) { return 100'000 + 1000 * rows; }
int64_t equal(int64_t rows) { return 1000 * rows; }
// Rows of more than 4 take four times as long.
int64_t out_of_cache(int64_t rows) { return (rows <= 4 ? 1000 : 4000) * rows + 500; }
int64_t larger_is_slower(int64_t rows) { return 1000 * rows * rows; }

TEST(BatchSize, AllRowsIfLargerCallsAreBetterOrAsGood) {
  for (const Time& time : {Time(with_fixed_cost), Time(equal)}) {
    BatchSize size(32);
    size.add(1, 8, time(1));
    EXPECT_EQ(std::min<int64_t>(size.next(20), 20), 20);
    EXPECT_GT(mean_rows(size, 20, 1000, time), 18);
  }
}

TEST(BatchSize, OneRowIfLargerCallsAreSlower) {
  BatchSize size(32);
  EXPECT_LT(mean_rows(size, 32, 1000, larger_is_slower), 2);
}

TEST(BatchSize, TheBestSizeBetween) {
  BatchSize size(32);
  // At first, all that wait; then calls of 2 or 3 rows, or up to 7, whose mean is measured.
  const double rows = mean_rows(size, 30, 1000, out_of_cache);
  EXPECT_GT(rows, 1.5);
  EXPECT_LT(rows, 5);
}

TEST(BatchSize, FollowsAChange) {
  BatchSize size(32);
  EXPECT_LT(mean_rows(size, 32, 1000, larger_is_slower), 2);
  (void)mean_rows(size, 32, 2000, with_fixed_cost);
  EXPECT_GT(mean_rows(size, 32, 1000, with_fixed_cost), 28);
}

TEST(BatchSize, SizesThatWereNotMeasuredAreTried) {
  BatchSize size(64);
  for (int i = 0; i < 100; ++i) size.add(1, 8, 1000);
  EXPECT_GE(size.next(5), 5);
  size.add(5, 40, 50'000);  // slow
  EXPECT_EQ(size.next(5), 3);
  size.add(3, 24, 50'000);
  EXPECT_EQ(size.next(5), 1);
  EXPECT_GE(size.next(64), 64);
}

// Rows of other dims: calls of one row have long rows, and calls of several have short ones.
TEST(BatchSize, TimesAreInProportionToTheInputs) {
  BatchSize size(2);
  for (int i = 0; i < 100; ++i) {
    size.add(1, 800, 100'000);
    size.add(2, 16, 1800);
  }
  EXPECT_EQ(size.next(2), 2);
  size.add(2, 16, 16'000);
  EXPECT_EQ(size.next(2), 1);
}

TEST(BatchSize, Limits) {
  BatchSize one(1);
  for (const int64_t waiting : {0, 1, 100}) {
    EXPECT_EQ(one.next(waiting), 1);
    one.add(waiting, 8, 10);
  }
  BatchSize many(1'000'000);
  EXPECT_LE(many.next(INT64_MAX), 1'000'000);
  many.add(INT64_MAX, INT64_MAX, INT64_MAX);
  many.add(0, 0, 0);
  many.add(1, 8, -1);
  EXPECT_GE(many.next(1), 1);
}

}  // namespace
}  // namespace scopevm::serve
