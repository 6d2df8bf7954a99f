// Representative dims: the values of dims at which the compiler compares costs and plans.
#include "compiler/dims/representative.h"

#include <gtest/gtest.h>

namespace scopevm::compiler {
namespace {

TEST(Representative, IsNearTheTypicalDimWithinBounds) {
  EXPECT_EQ(representative(DimFacts{}), 64);
  EXPECT_EQ(representative(DimFacts{.min = 1000}), 1000);
  EXPECT_EQ(representative(DimFacts{.min = 1, .max = 8}), 8);
  EXPECT_EQ(representative(DimFacts{.min = 0, .max = 0}), 0);
}

TEST(Representative, IsAMultipleIfConstrained) {
  EXPECT_EQ(representative(DimFacts{.multiple_of = 24}), 48);
  EXPECT_EQ(representative(DimFacts{.multiple_of = 96}), 96);
  EXPECT_EQ(representative(DimFacts{.min = 100, .max = 200, .multiple_of = 64}), 128);
  EXPECT_EQ(representative(DimFacts{.min = 0, .max = 3, .multiple_of = 8}), 0);
}

TEST(Representative, OfExpressions) {
  const DimExpr n = DimExpr::symbol("n", {.min = 1000, .max = 2000});
  const DimExpr m = DimExpr::symbol("m");
  EXPECT_EQ(representative(2 * n + m), 2064);
  EXPECT_EQ(representative(floordiv(n, 3) + mod(n, 7)), 333 + 1000 % 7);
  EXPECT_EQ(representative(max(n - m, m) - min(n, 2 * m)), 1000 - 64 - 128);
  EXPECT_EQ(representative(m - n), 0);
  EXPECT_EQ(representative(n * m, {{"n", 3}}), 192);
}

TEST(Representative, IsFiniteAboveTheIntegerRange) {
  const DimExpr n = DimExpr::symbol("n", {.min = int64_t{1} << 40});
  EXPECT_EQ(representative(n * n), 0x1p80);
}

}  // namespace
}  // namespace scopevm::compiler
