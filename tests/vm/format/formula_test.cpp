// Evaluation of printed dim formulas: valid formulas have the expected value, others have none.
#include "vm/format/schema/formula.h"

#include <gtest/gtest.h>

namespace scopevm::format {
namespace {

using Value = std::optional<int64_t>;

Value value_of(std::string_view formula) {
  return evaluate_formula(formula, {{"n", 7}, {"past.len", 3}, {"z", 0}});
}

TEST(DimFormula, EvaluatesPrintedFormulas) {
  EXPECT_EQ(value_of("n"), 7);
  EXPECT_EQ(value_of("12"), 12);
  EXPECT_EQ(value_of("n+past.len"), 10);
  EXPECT_EQ(value_of("-2*n+past.len*n-1"), 6);
  EXPECT_EQ(value_of("2*(n+1)*(n-1)"), 96);
  EXPECT_EQ(value_of("floordiv(n-8, 2)"), -1);
  EXPECT_EQ(value_of("mod(-n, 4)"), 1);
  EXPECT_EQ(value_of("max(1, min(n, past.len, 5), z)"), 3);
}

TEST(DimFormula, InvalidFormulaHasNoValue) {
  for (const char* text : {"", "+", "n+", "n n", "k", "n)", "(n", "min(n", "median(n, 2)", "2*",
                           "n,n", "floordiv(n, z)", "mod(n, -1)", "9223372036854775807+n",
                           "n*9223372036854775807", "-(-9223372036854775807-1)", "1.5"})
    EXPECT_EQ(value_of(text), std::nullopt) << text;
}

TEST(DimFormula, InvalidCallHasNoValue) {
  for (const char* text :
       {"foo(3)", "foo(n, 3)", "min(n)", "mod(n)", "floordiv(n, 2, 2)", "min(n,"})
    EXPECT_EQ(value_of(text), std::nullopt) << text;
}

TEST(DimFormula, DeepNestingIsRejected) {
  EXPECT_EQ(value_of(std::string(20, '(') + "n" + std::string(20, ')')), 7);
  EXPECT_EQ(value_of(std::string(4000, '(') + "n" + std::string(4000, ')')), std::nullopt);
  EXPECT_EQ(value_of(std::string(4000, '-') + "n"), std::nullopt);
}

}  // namespace
}  // namespace scopevm::format
