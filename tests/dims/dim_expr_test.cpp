// DimExpr: equalities that the normal form proves, printing, parsing and evaluation.
#include "compiler/dims/dim_expr.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

namespace scopevm::compiler {
namespace {

const DimExpr n = DimExpr::symbol("n"), m = DimExpr::symbol("m"), w = DimExpr::symbol("w");

DimExpr read(std::string_view text) {
  std::optional<DimExpr> e = DimExpr::parse(text);
  EXPECT_TRUE(e) << text;
  return e.value_or(DimExpr(-12345));
}

std::optional<int64_t> value(DimExpr e, std::map<std::string, int64_t> symbols) {
  return e.evaluate([&](std::string_view name) -> std::optional<int64_t> {
    auto found = symbols.find(std::string(name));
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(DimExpr, EqualPolynomialsAreOneObject) {
  EXPECT_EQ(n * m + n, n * (m + 1));
  EXPECT_EQ((n + m) * (n - m), n * n - m * m);
  EXPECT_EQ(n + m - n, m);
  EXPECT_EQ(n * 0, DimExpr(0));
  EXPECT_NE(n + 1, n);
  EXPECT_EQ((n + m) + w, n + (m + w));
}

TEST(DimExpr, ExtremaOfTwoDimsMultiply) {
  EXPECT_EQ(min(n, m) * max(n, m), n * m);
  EXPECT_EQ(min(n, 1) * w * max(n, 1), n * w);
  EXPECT_EQ((min(n + 1, m) + w) * max(n + 1, m), n * m + m + w * max(n + 1, m));
}

TEST(DimExpr, DivisionOfPolynomialsIsExactIfPossible) {
  EXPECT_EQ(floordiv(n * 40 * w, 40 * w), n);
  EXPECT_EQ(floordiv(4 * n * m + 8 * n, 4 * n), m + 2);
  EXPECT_EQ(floordiv(n * n + 2 * n * m + m * m, n + m), n + m);
  EXPECT_EQ(floordiv(n * m + 3, m), n + floordiv(3, m));
  EXPECT_EQ(mod(n * m * 6, 3 * m), DimExpr(0));
  EXPECT_EQ(mod(n * m + 3, m), mod(DimExpr(3), m));
}

TEST(DimExpr, DivisionByConstantExtractsWholeParts) {
  EXPECT_EQ(floordiv(2 * n + 1, 2), n);
  EXPECT_EQ(floordiv(4 * n, 2), 2 * n);
  EXPECT_EQ(floordiv(3 * n, 2), n + floordiv(n, 2));
  EXPECT_EQ(floordiv(2 * n + 2 * m, 4), floordiv(n + m, 2));
  EXPECT_EQ(floordiv(n + 5, 4), floordiv(n + 1, 4) + 1);
  EXPECT_EQ(floordiv(n - 1, 2) + 1, floordiv(n + 1, 2));
  EXPECT_EQ(floordiv(DimExpr(-7), 2), DimExpr(-4));
  EXPECT_EQ(mod(6 * n + 5, 3), DimExpr(2));
  EXPECT_EQ(mod(DimExpr(-7), 4), DimExpr(1));
  EXPECT_EQ(mod(n, 1), DimExpr(0));
}

TEST(DimExpr, NestedDivisionsMerge) {
  EXPECT_EQ(floordiv(floordiv(n, 4), 8), floordiv(n, 32));
  // Two consecutive convolutions with stride 2.
  DimExpr once = floordiv(w - 1, 2) + 1;
  EXPECT_EQ(floordiv(once - 1, 2) + 1, floordiv(w + 3, 4));
}

TEST(DimExpr, MinAndMaxFlattenAndRemoveDominatedOperands) {
  EXPECT_EQ(max(n, max(m, w)), max(max(n, m), w));
  EXPECT_EQ(max(n, n + 1), n + 1);
  EXPECT_EQ(min(n, n + m), n);
  EXPECT_EQ(max(DimExpr(3), DimExpr(7)), DimExpr(7));
  EXPECT_EQ(max(floordiv(n, 2), 0), floordiv(n, 2));
  EXPECT_EQ(max(n, min(n, 512)), n);
  EXPECT_EQ(min(max(n, m), n), n);
  EXPECT_EQ(max(min(n, m), min(n, w)).kind(), DimExpr::Kind::kMax);
  EXPECT_EQ(max(n - 3, 0).kind(), DimExpr::Kind::kMax);
  EXPECT_EQ(min(DimExpr(INT64_MAX), n), n);
  EXPECT_EQ(min(DimExpr(INT64_MAX - 1), n).kind(), DimExpr::Kind::kMin);
}

TEST(DimExpr, FactsAboutSymbolsSimplify) {
  DimExpr k = DimExpr::symbol("k", {8, 512, 8});
  EXPECT_EQ(mod(k, 8), DimExpr(0));
  EXPECT_EQ(mod(3 * k * m + 5, 8), DimExpr(5));
  EXPECT_EQ(mod(k, 16).kind(), DimExpr::Kind::kMod);
  EXPECT_EQ(floordiv(k, 8) * 8, k);
  EXPECT_EQ(floordiv(k, 4), floordiv(k, 8) * 2);
  EXPECT_EQ(floordiv(k + 7, 8), floordiv(k, 8));
  EXPECT_EQ(round_up(k * n, 8), k * n);
  EXPECT_EQ(min(k, 512), k);
  EXPECT_EQ(max(k, 8), k);
  EXPECT_EQ(min(k, 511).kind(), DimExpr::Kind::kMin);
  EXPECT_TRUE(is_never_negative(k * m - 8 * m));
  EXPECT_FALSE(is_never_negative(k * m - 9 * m));
  EXPECT_TRUE(is_never_negative(floordiv(k - 7, 2)));
  EXPECT_FALSE(DimExpr::symbol("k") == k);
  EXPECT_EQ(k.str(), "k");
}

TEST(DimExpr, CeilDivAndRoundUp) {
  EXPECT_EQ(ceildiv(n, 16), floordiv(n + 15, 16));
  EXPECT_EQ(ceildiv(n, m), floordiv(n + m - 1, m));
  EXPECT_EQ(round_up(64 * n, 64), 64 * n);
  EXPECT_EQ(round_up(4 * n, 64), 64 * floordiv(n + 15, 16));
  EXPECT_EQ(value(round_up(n, 64), {{"n", 65}}), 128);
}

TEST(DimExpr, ProvesNonNegativity) {
  EXPECT_TRUE(is_never_negative(n * m + 2));
  EXPECT_TRUE(is_never_negative(floordiv(w - 1, 2) + 1));
  EXPECT_TRUE(is_never_negative(ceildiv(n, m)));
  EXPECT_TRUE(is_never_negative(max(n - 3, 0)));
  EXPECT_TRUE(is_never_negative(mod(n - 7, 4)));
  EXPECT_TRUE(is_never_negative(n - min(n, 512)));
  EXPECT_TRUE(is_never_negative(max(n, m) * w - n * w));
  EXPECT_FALSE(is_never_negative(max(n, m) - min(n, m) - 1));
  EXPECT_FALSE(is_never_negative(min(n, 512) - n));
  // A slice [m, m+n) of a table of 512 rows has at most n rows.
  DimExpr rows = min(DimExpr(512), n + m) - min(DimExpr(512), m);
  EXPECT_TRUE(is_never_negative(n - rows));
  EXPECT_TRUE(is_never_negative(rows));
  EXPECT_EQ(max(n, rows), n);
  EXPECT_FALSE(is_never_negative(n - 1));
  EXPECT_FALSE(is_never_negative(floordiv(w - 3, 2) + 1));
  EXPECT_FALSE(is_never_negative(min(n, m - 1)));
}

TEST(DimExpr, ProvesDifferencesOfFloors) {
  EXPECT_TRUE(is_never_negative(n - floordiv(n, 2)));
  EXPECT_TRUE(is_never_negative(n - ceildiv(n, 2)));
  EXPECT_FALSE(is_never_negative(n - ceildiv(n, 2) - 1));
  EXPECT_TRUE(is_never_negative(2 * ceildiv(n, 32) - ceildiv(n, 16)));
  EXPECT_FALSE(is_never_negative(ceildiv(n, 16) - 2 * ceildiv(n, 32)));
  EXPECT_FALSE(is_never_negative(2 * floordiv(n, 32) - floordiv(n, 16)));
  EXPECT_TRUE(is_never_negative(2 * floordiv(n, 32) - floordiv(n, 16) + 1));
  // The sum is a multiple of 8, so that it is not negative if it is above -8.
  EXPECT_TRUE(is_never_negative(16 * ceildiv(n, 16) - 8 * ceildiv(n, 8)));
  EXPECT_TRUE(is_never_negative(ceildiv(n, 2) + floordiv(n, 2) - n));
  // A quotient that is not needed for the proof.
  EXPECT_TRUE(is_never_negative(floordiv(m, 3) + n - floordiv(n, 2)));
  EXPECT_EQ(max(ceildiv(n, 8), 4 * ceildiv(n, 32)), 4 * ceildiv(n, 32));
}

TEST(DimExpr, PrintsCanonically) {
  EXPECT_EQ((1 + 2 * n + n * m).str(), "m*n+2*n+1");
  EXPECT_EQ((m - n).str(), "m-n");
  EXPECT_EQ((0 - 2 * n).str(), "-2*n");
  EXPECT_EQ(ceildiv(n, 16).str(), "floordiv(n+15, 16)");
  EXPECT_EQ(max(n, max(w, m)).str(), "max(m, n, w)");
  EXPECT_EQ((floordiv(n, 2) * m).str(), "m*floordiv(n, 2)");
  EXPECT_EQ(DimExpr().str(), "0");
  EXPECT_EQ(floordiv(DimExpr(-1), DimExpr(-1)).str(), "floordiv(-1, -1)");
}

TEST(DimExpr, ParsesCommonSpellings) {
  EXPECT_EQ(read("2 * (n+1) - m"), 2 * n + 2 - m);
  EXPECT_EQ(read("ceildiv(n, 16)"), ceildiv(n, 16));
  EXPECT_EQ(read("max(1, n, m)"), max(DimExpr(1), max(n, m)));
  EXPECT_EQ(read("-n+-3"), DimExpr(-3) - n);
  EXPECT_EQ(read("$threads"), DimExpr::symbol("$threads"));
  EXPECT_EQ(read("-9223372036854775808"), DimExpr(INT64_MIN));
  for (const char* bad : {"", "n m", "n+", "(n", "n)", "max(n)", "floordiv(n, 2, 3)", "f(n, 2)",
                          "9223372036854775808", "2n", "n**2", "a,b", "\xff"})
    EXPECT_FALSE(DimExpr::parse(bad)) << bad;
}

TEST(DimExpr, DeepNestingAndLargeProductsAreBounded) {
  std::string open(100000, '('), minus(100000, '-');
  EXPECT_FALSE(DimExpr::parse(open + "n" + std::string(100000, ')')));
  EXPECT_FALSE(DimExpr::parse(minus + "n"));
  std::string chain = "n";
  for (int i = 0; i < 90; ++i)
    chain = (i % 2 ? "max(s" : "min(s") + std::to_string(i) + ", " + chain + ")";
  EXPECT_TRUE(DimExpr::parse("max(" + chain + "+1, " + chain + ")"));
  std::string product = "1";
  for (int i = 0; i < 40; ++i) product += "*(a+b+c+d+e+f+g+h)";
  std::optional<DimExpr> e = DimExpr::parse(product);
  ASSERT_TRUE(e);
  std::map<std::string, int64_t> zeros;
  for (char c = 'a'; c <= 'h'; ++c) zeros[std::string(1, c)] = c == 'a';
  EXPECT_EQ(value(*e, zeros), 1);
}

// 8*floordiv(n, 8) is n, unless the coefficient of n would overflow.
TEST(DimExpr, KeepsAnExactDivisionWhoseTermOverflows) {
  const DimExpr n = DimExpr::symbol("n", {.multiple_of = 8});
  const DimExpr half = DimExpr(4) * floordiv(n, 8);
  EXPECT_EQ(half + half, n);
  EXPECT_EQ((DimExpr(INT64_MAX) * n + half + half).str(), "9223372036854775807*n+8*floordiv(n, 8)");
}

TEST(DimExpr, OverflowNeverWrapsAround) {
  DimExpr big(INT64_MAX);
  DimExpr sum = big + 1, product = big * (2 * n);
  EXPECT_EQ(value(sum, {}), std::nullopt);
  EXPECT_EQ(value(sum + n, {{"n", 1}}), std::nullopt);
  EXPECT_EQ(value(product, {{"n", 1}}), std::nullopt);
  EXPECT_EQ(value(product, {{"n", 0}}), 0);
  EXPECT_NE(sum, big + 2);
  EXPECT_NE(big * (2 * n), big * (4 * n));
  DimExpr least(INT64_MIN);
  EXPECT_EQ(value(least + 1, {}), INT64_MIN + 1);
  EXPECT_EQ(value(floordiv(least, 3), {}), -3074457345618258603);
  EXPECT_EQ(value(mod(least, 3), {}), 1);
  EXPECT_EQ(value(floordiv(least * n, DimExpr(-1) * n), {{"n", 1}}), std::nullopt);
  for (DimExpr e : {sum, sum + n, product, product + m, n - sum, least * DimExpr(-1), least - n,
                    big * (2 * n) * (m + 1), n * (big * (2 * m))})
    EXPECT_EQ(DimExpr::parse(e.str()), e) << e.str();
}

TEST(DimExpr, EvaluationFailsWithoutAValue) {
  EXPECT_EQ(value(n + m, {{"n", 1}}), std::nullopt);
  EXPECT_EQ(value(floordiv(n, m), {{"n", 1}, {"m", 0}}), std::nullopt);
  EXPECT_EQ(value(floordiv(n, DimExpr(0)), {{"n", 1}}), std::nullopt);
  EXPECT_EQ(value(mod(n, m - 3), {{"n", 1}, {"m", 2}}), std::nullopt);
  EXPECT_EQ(value(n * n, {{"n", int64_t{1} << 32}}), std::nullopt);
}

TEST(DimExpr, SubstitutesAndNormalisesAgain) {
  auto with = [](std::string_view name) {
    return name == "n" ? std::optional(2 * m) : std::nullopt;
  };
  EXPECT_EQ((n * w + floordiv(n, 2)).substitute(with), 2 * m * w + m);
  EXPECT_EQ(max(n, m).substitute(with), 2 * m);
}

// The operands of a max are not compared again when another dim is added to it.
TEST(DimExpr, MaxOfManySymbolsKeepsEachOnce) {
  DimExpr all = 0;
  for (int i = 0; i < 200; ++i) all = max(all, DimExpr::symbol("s" + std::to_string(i)));
  EXPECT_EQ(all.operands().size(), 200U);
  EXPECT_EQ(max(all, DimExpr::symbol("s17")), all);
  EXPECT_EQ(max(all, all), all);
  EXPECT_EQ(max(DimExpr::symbol("s3"), all), all);
}

TEST(DimExpr, MaxOfSymbolsUsesTheirFacts) {
  DimExpr small = DimExpr::symbol("small", {.max = 4}),
          large = DimExpr::symbol("large", {.min = 4});
  EXPECT_EQ(max(small, large), large);
  EXPECT_EQ(min(small, large), small);
  EXPECT_EQ(max(max(n, small), large), max(n, large));
}

TEST(DimExpr, ListsSymbolsOnceByName) {
  EXPECT_EQ((w * n + floordiv(n, m)).symbols(), (std::vector<std::string>{"m", "n", "w"}));
}

TEST(DimExpr, ThreadsInternTheSameObjects) {
  std::vector<DimExpr> made(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < made.size(); ++t)
    threads.emplace_back([&, t] {
      DimExpr e = 0;
      for (int i = 0; i < 200; ++i) e = e + DimExpr::symbol("s" + std::to_string(i % 20)) * i;
      made[t] = e;
    });
  for (std::thread& thread : threads) thread.join();
  for (DimExpr e : made) EXPECT_EQ(e, made[0]);
}

}  // namespace
}  // namespace scopevm::compiler
