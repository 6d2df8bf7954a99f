// Tests formula_text(): the operands that get names, common factors, long formulas, and equal
// values of the printed formulas and the expressions.
#include "compiler/dims/dim_text.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/dims/formula_value.h"

namespace scopevm::compiler {
namespace {

const DimExpr n = DimExpr::symbol("n"), m = DimExpr::symbol("m"), k = DimExpr::symbol("k");

// The definitions and formulas, one per line.
std::string text(const std::vector<DimExpr>& expressions) {
  const FormulaText printed = formula_text(expressions);
  std::string lines;
  for (const FormulaDefinition& d : printed.definitions) lines += d.name + " = " + d.formula + "\n";
  for (const std::string& formula : printed.formulas) lines += formula + "\n";
  return lines;
}

TEST(FormulaText, ShortFormulasHaveNoDefinitions) {
  EXPECT_EQ(text({4 * n + 64, DimExpr(7), n - m}), "4*n + 64\n7\nn - m\n");
}

TEST(FormulaText, RoundedUpQuotientsAreCeildiv) {
  EXPECT_EQ(text({64 * ceildiv(n, 16), floordiv(n + 3, 16)}),
            "64*ceildiv(n, 16)\nfloordiv(n + 3, 16)\n");
}

TEST(FormulaText, RepeatedOperandsAreNamedOnce) {
  const DimExpr tiles = ceildiv(n, 12);
  EXPECT_EQ(text({max(12288 * tiles, 4096 * n + 65), tiles * 512}),
            "A = ceildiv(n, 12)\n"
            "max(4096*n + 65, 12288*A)\n"
            "512*A\n");
}

TEST(FormulaText, LongFormulasAreNamed) {
  EXPECT_EQ(text({512 * ceildiv(n, 12) + max(4 * n, 12 * m + 1)}),
            "A = 512*ceildiv(n, 12) + max(12*m + 1, 4*n)\nA\n");
}

TEST(FormulaText, NamesOfDimensionsAreNotReused) {
  const DimExpr a = DimExpr::symbol("A");
  EXPECT_EQ(text({64 * ceildiv(a, 16), 32 * ceildiv(a, 16)}), "B = ceildiv(A, 16)\n64*B\n32*B\n");
}

TEST(FormulaText, CommonFactorsAreTakenOutIfThatIsShorter) {
  EXPECT_EQ(text({12288 * n * m + 4096 * n}), "4096*n*(3*m + 1)\n");
  EXPECT_EQ(text({4096 * n + 64}), "4096*n + 64\n");
}

TEST(FormulaText, CommonFactorsOfAMaximumAreTakenOutIfThatIsShorter) {
  EXPECT_EQ(text({max(12288 * n, 24576 * m)}), "12288*max(n, 2*m)\n");
}

TEST(FormulaText, LongLinesAreSplit) {
  DimExpr sum = 0;
  for (int i = 0; i < 40; ++i) sum = sum + DimExpr::symbol("dimension" + std::to_string(i)) * n;
  std::map<std::string, int64_t> values{{"n", 3}};
  for (int i = 0; i < 40; ++i) values["dimension" + std::to_string(i)] = i;
  const FormulaText printed = formula_text({&sum, 1});
  EXPECT_GT(printed.definitions.size(), 5u);
  for (const FormulaDefinition& d : printed.definitions) EXPECT_LE(d.formula.size(), 80u);
  EXPECT_EQ(formula_value(printed.definitions, printed.formulas[0], values), 3 * 39 * 20);
}

TEST(FormulaText, NamesContinueAfterZ) {
  std::vector<DimExpr> expressions;
  for (int i = 2; i < 60; ++i)
    for (int twice : {1, 3}) expressions.push_back(ceildiv(n, i) * m + twice * ceildiv(n, i));
  const FormulaText printed = formula_text(expressions);
  ASSERT_GT(printed.definitions.size(), 27u);
  EXPECT_EQ(printed.definitions[25].name, "Z");
  EXPECT_EQ(printed.definitions[26].name, "A1");
}

// Each level uses the previous one twice. Without sharing, the expression would have 2^200 nodes.
TEST(FormulaText, SharedOperandsArePrintedOnce) {
  DimExpr e = n;
  int64_t expected = 5;
  for (int i = 1; i <= 200; ++i) {
    e = max(e + DimExpr::symbol("a") * floordiv(e, 1000), DimExpr(i));
    expected = std::max<int64_t>(expected, i);
  }
  const FormulaText printed = formula_text({&e, 1});
  size_t size = 0;
  for (const FormulaDefinition& d : printed.definitions) size += d.formula.size();
  EXPECT_LT(size, 50000u);
  EXPECT_EQ(formula_value(printed.definitions, printed.formulas[0], {{"n", 5}, {"a", 0}}),
            expected);
}

TEST(FormulaText, VeryManyDefinitionsAreOmittedWithAMessage) {
  std::vector<DimExpr> expressions{4 * n};
  for (int i = 2; i < 1200; ++i)
    for (int twice : {1, 3}) expressions.push_back(twice * ceildiv(n, i) + m * ceildiv(n, i));
  const FormulaText printed = formula_text(expressions);
  EXPECT_TRUE(printed.definitions.empty());
  EXPECT_EQ(printed.formulas[0], "4*n");
}

TEST(FormulaText, ValuesAreUnchanged) {
  std::mt19937 random(11);
  auto below = [&](size_t end) { return static_cast<size_t>(random() % end); };
  for (int round = 0; round < 300; ++round) {
    std::vector<DimExpr> made{n, m, k, 1, 64};
    for (int i = 0; i < 25; ++i) {
      const DimExpr a = made[below(made.size())], b = made[below(made.size())];
      const DimExpr c = DimExpr(int64_t{1} << below(5));
      switch (below(7)) {
        case 0:
          made.push_back(a + b);
          break;
        case 1:
          made.push_back(a - b);
          break;
        case 2:
          made.push_back(a * c);
          break;
        case 3:
          made.push_back(ceildiv(a, c + 1));
          break;
        case 4:
          made.push_back(mod(a, c + 2));
          break;
        case 5:
          made.push_back(max(a, b));
          break;
        default:
          made.push_back(min(a * c, b));
      }
    }
    const FormulaText printed = formula_text(made);
    for (const std::map<std::string, int64_t>& values :
         {std::map<std::string, int64_t>{{"n", 0}, {"m", 0}, {"k", 0}},
          {{"n", 5}, {"m", 9}, {"k", 2}},
          {{"n", 100}, {"m", 33}, {"k", 7}}})
      for (size_t i = 0; i < made.size(); ++i)
        ASSERT_EQ(formula_value(printed.definitions, printed.formulas[i], values),
                  made[i].evaluate([&](std::string_view name) {
                    return std::optional(values.at(std::string(name)));
                  }))
            << text(made);
  }
}

}  // namespace
}  // namespace scopevm::compiler
