// Random expressions: normalisation preserves values, printing and parsing round-trip, and the
// order is total.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compiler/dims/dim_expr.h"

namespace scopevm::compiler {
namespace {

constexpr const char* kNames[] = {"a", "b", "c"};
constexpr int64_t kNoValue = INT64_MIN;  // not defined, because a divisor is less than 1

// An expression, and its values at sample points computed independently of the normal form.
struct Sample {
  DimExpr expr;
  std::vector<int64_t> values;
};

// Facts about a, b and c, for the tests with facts.
constexpr DimFacts kFacts[] = {{4, 36, 4}, {1, 7, 1}, {0, 40, 6}};

// The sample points: values of a, b and c. With `have_facts`, they satisfy kFacts.
const std::vector<std::vector<int64_t>>& points(bool have_facts) {
  static const auto* kPoints = [] {
    auto* points = new std::vector<std::vector<int64_t>>[2];
    std::mt19937 random(7);
    for (int i = 0; i < 24; ++i) {
      std::vector<int64_t>&any = points[0].emplace_back(), &known = points[1].emplace_back();
      for (const DimFacts& facts : kFacts) {
        any.push_back(static_cast<int64_t>(random() % (i % 2 ? 5 : 40)));
        auto places = static_cast<uint32_t>((facts.max - facts.min) / facts.multiple_of + 1);
        known.push_back(facts.min + static_cast<int64_t>(random() % places) * facts.multiple_of);
      }
    }
    return points;
  }();
  return kPoints[have_facts ? 1 : 0];
}

template <typename Op>
std::vector<int64_t> each(const Sample& a, const Sample& b, Op op) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < a.values.size(); ++i) {
    int64_t x = a.values[i], y = b.values[i];
    values.push_back(x == kNoValue || y == kNoValue ? kNoValue : op(x, y));
  }
  return values;
}

// The q with q*y <= x < (q+1)*y. REQUIRES: y > 0.
int64_t floor_of(int64_t x, int64_t y) {
  int64_t q = x / y;
  return q * y > x ? q - 1 : q;
}

class Generator {
 public:
  explicit Generator(uint32_t seed, bool have_facts = false)
      : random_(seed), have_facts_(have_facts) {}

  Sample make(int depth) {
    if (depth == 0 || random_() % 6 == 0) return leaf();
    Sample a = make(depth - 1);
    switch (random_() % 8) {
      case 0:
      case 1: {
        Sample b = make(depth - 1);
        return {a.expr + b.expr, each(a, b, [](int64_t x, int64_t y) { return x + y; })};
      }
      case 2: {
        Sample b = make(depth - 1);
        return {a.expr - b.expr, each(a, b, [](int64_t x, int64_t y) { return x - y; })};
      }
      case 3: {
        Sample b = make(std::min(depth - 1, 1));
        return {a.expr * b.expr, each(a, b, [](int64_t x, int64_t y) { return x * y; })};
      }
      case 4:
      case 5: {
        Sample b = random_() % 2 ? literal(1 + static_cast<int64_t>(random_() % 9)) : make(1);
        bool is_mod = random_() % 2 != 0;
        return {is_mod ? mod(a.expr, b.expr) : floordiv(a.expr, b.expr),
                each(a, b, [&](int64_t x, int64_t y) {
                  if (y < 1) return kNoValue;
                  return is_mod ? x - floor_of(x, y) * y : floor_of(x, y);
                })};
      }
      case 6: {
        Sample b = make(depth - 1);
        return {min(a.expr, b.expr),
                each(a, b, [](int64_t x, int64_t y) { return std::min(x, y); })};
      }
      default: {
        Sample b = make(depth - 1);
        return {max(a.expr, b.expr),
                each(a, b, [](int64_t x, int64_t y) { return std::max(x, y); })};
      }
    }
  }

 private:
  Sample literal(int64_t value) { return {value, std::vector(points(have_facts_).size(), value)}; }
  Sample leaf() {
    if (random_() % 3 == 0) return literal(static_cast<int64_t>(random_() % 12) - 3);
    size_t s = random_() % std::size(kNames);
    Sample sample{DimExpr::symbol(kNames[s], have_facts_ ? kFacts[s] : DimFacts()), {}};
    for (const auto& point : points(have_facts_)) sample.values.push_back(point[s]);
    return sample;
  }

  std::mt19937 random_;
  bool have_facts_;
};

std::optional<int64_t> value_at(DimExpr e, const std::vector<int64_t>& point) {
  return e.evaluate([&](std::string_view name) { return std::optional(point[name[0] - 'a']); });
}

// The parameter is true for tests with facts about the symbols.
class DimExprProperty : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Facts, DimExprProperty, testing::Bool());

TEST_P(DimExprProperty, NormalisationKeepsEveryValue) {
  Generator generator(1, GetParam());
  int64_t compared = 0;
  for (int i = 0; i < 4000; ++i) {
    Sample sample = generator.make(4);
    for (size_t p = 0; p < sample.values.size(); ++p) {
      if (sample.values[p] == kNoValue) continue;
      // If the original expression is defined, the normal form has the same value.
      const std::vector<int64_t>& point = points(GetParam())[p];
      ASSERT_EQ(value_at(sample.expr, point), sample.values[p])
          << sample.expr.str() << " at " << point[0] << ", " << point[1] << ", " << point[2];
      ++compared;
    }
  }
  EXPECT_GT(compared, 50000);
}

TEST_P(DimExprProperty, IntervalsAndFactorsHold) {
  Generator generator(6, GetParam());
  int bounded = 0, divided = 0;
  for (int i = 0; i < 4000; ++i) {
    Sample sample = generator.make(3);
    DimInterval claimed = interval_of(sample.expr);
    int64_t factor = known_factor(sample.expr);
    bounded += claimed.max < INT64_MAX ? 1 : 0;
    divided += factor > 1 ? 1 : 0;
    for (int64_t value : sample.values)
      ASSERT_TRUE(value == kNoValue ||
                  (value >= claimed.min && value <= claimed.max && value % factor == 0))
          << sample.expr.str() << " is " << value;
  }
  EXPECT_GT(bounded, 500);
  EXPECT_GT(divided, 300);
}

TEST_P(DimExprProperty, NeverNegativeIsTrue) {
  Generator generator(2, GetParam());
  int proved = 0;
  for (int i = 0; i < 4000; ++i) {
    Sample sample = generator.make(3);
    if (!is_never_negative(sample.expr)) continue;
    ++proved;
    for (int64_t value : sample.values)
      ASSERT_TRUE(value == kNoValue || value >= 0) << sample.expr.str();
  }
  EXPECT_GT(proved, 500);
}

TEST(DimExprText, RoundTrips) {
  Generator generator(3);
  for (int i = 0; i < 4000; ++i) {
    DimExpr e = generator.make(4).expr;
    ASSERT_EQ(DimExpr::parse(e.str()), e) << e.str();
  }
}

TEST_P(DimExprProperty, RingLawsHoldAsIdentity) {
  Generator generator(4, GetParam());
  for (int i = 0; i < 1000; ++i) {
    DimExpr a = generator.make(3).expr, b = generator.make(3).expr, c = generator.make(2).expr;
    ASSERT_EQ(a + b, b + a);
    ASSERT_EQ((a + b) + c, a + (b + c));
    ASSERT_EQ(a * b, b * a);
    ASSERT_EQ(c * (a + b), c * a + c * b);
    ASSERT_EQ(a - a, DimExpr(0));
    ASSERT_EQ(max(a, max(b, c)), max(max(c, a), b));
  }
}

TEST(DimExprOrder, IsTotal) {
  Generator generator(5);
  std::vector<DimExpr> all;
  for (int i = 0; i < 300; ++i) all.push_back(generator.make(3).expr);
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = i + 1; j < all.size(); ++j) {
      ASSERT_FALSE(all[j] < all[i]);
      ASSERT_EQ(all[i] < all[j], all[i] != all[j]);
    }
}

}  // namespace
}  // namespace scopevm::compiler
