// Interval analysis of dim expressions: the computed bounds hold for all values of the symbols.
#include "compiler/dims/dim_expr.h"

#include <gtest/gtest.h>

namespace scopevm::compiler {
namespace {

DimExpr dim(const char* text) { return *DimExpr::parse(text); }

// Parses an expression over n and m. `n` and `m` are the facts about these symbols.
DimExpr dim(const char* text, DimFacts n, DimFacts m = {}) {
  return dim(text).substitute([&](std::string_view name) -> std::optional<DimExpr> {
    return DimExpr::symbol(name, name == "n" ? n : m);
  });
}

TEST(DimInterval, HoldForEveryValueOfTheSymbols) {
  const char* kStrings[] = {"n",
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
  for (const char* text : kStrings) {
    DimInterval claimed = interval_of(dim(text, {1, 6}, {2, 5}));
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

TEST(DimInterval, SymbolsWithoutFactsAreAtLeastZero) { EXPECT_EQ(interval_of(dim("n")).min, 0); }

TEST(DimInterval, DecidesMinAndMax) {
  EXPECT_EQ(min(dim("n", {1}), 1), DimExpr(1));
  EXPECT_EQ(max(dim("n", {1}), 1), dim("n", {1}));
  EXPECT_EQ(min(dim("n", {1}), 7), dim("min(n, 7)", {1}));
  EXPECT_EQ(min(dim("n", {1, 7}), 7), dim("n", {1, 7}));
}

TEST(DimInterval, SaturateInsteadOfOverflowing) {
  EXPECT_EQ(interval_of(dim("n*n", {1})).max, INT64_MAX);
  EXPECT_EQ(interval_of(dim("-2*n", {1})).min, INT64_MIN);
}

}  // namespace
}  // namespace scopevm::compiler
