// Intervals of dimension expressions: every bound that is claimed holds for every value.
#include "compiler/graph/dim_interval.h"

#include <gtest/gtest.h>

namespace scopevm::graph {
namespace {

DimExpr dim(const char* text) { return *DimExpr::parse(text); }

TEST(DimIntervals, HoldForEveryValueOfTheSymbols) {
  const char* kTexts[] = {"n",
                          "n-3",
                          "2*n+m",
                          "n*m-m",
                          "floordiv(n, 2)",
                          "mod(n, 3)",
                          "min(n, 4)-m",
                          "max(n, m)",
                          "-2*n",
                          "floordiv(n-7, 3)",
                          "floordiv(n*m, m)",
                          "min(n, m)*max(n-4, 2-m)"};
  DimIntervals intervals;
  intervals.set("n", {1, 6});
  intervals.set("m", {2, 5});
  for (const char* text : kTexts) {
    DimInterval claimed = intervals.of(dim(text));
    for (int64_t n = 1; n <= 6; ++n)
      for (int64_t m = 2; m <= 5; ++m) {
        auto value = dim(text).evaluate(
            [&](std::string_view name) { return std::optional(name == "n" ? n : m); });
        ASSERT_TRUE(value.has_value()) << text;
        EXPECT_GE(*value, claimed.min) << text << " at " << n << ", " << m;
        EXPECT_LE(*value, claimed.max) << text << " at " << n << ", " << m;
      }
  }
}

TEST(DimIntervals, SymbolsWithoutBoundsAreAtLeastOne) {
  EXPECT_TRUE(DimIntervals().is_at_least(dim("n"), 1));
  EXPECT_FALSE(DimIntervals().is_at_least(dim("n"), 2));
}

TEST(DimIntervals, DecideMinAndMaxOnlyWhereTheyCan) {
  DimIntervals intervals;
  EXPECT_EQ(intervals.smaller(dim("n"), 1), DimExpr(1));
  EXPECT_EQ(intervals.greater(dim("n"), 1), dim("n"));
  EXPECT_EQ(intervals.smaller(dim("n"), 7), dim("min(n, 7)"));
  intervals.set("n", {1, 7});
  EXPECT_EQ(intervals.smaller(dim("n"), 7), dim("n"));
}

TEST(DimIntervals, SaturateInsteadOfOverflowing) {
  DimIntervals intervals;
  intervals.set("n", {1, INT64_MAX});
  EXPECT_EQ(intervals.of(dim("n*n")).max, INT64_MAX);
  EXPECT_EQ(intervals.of(dim("-2*n")).min, INT64_MIN);
}

}  // namespace
}  // namespace scopevm::graph
