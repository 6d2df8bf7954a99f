// The dims of broadcasts.
#include "compiler/graph/type_rule.h"

#include <gtest/gtest.h>

namespace scopevm::compiler::graph {
namespace {

// In each layer of a language model, the queries are broadcast with a part of a mask of 1024
// positions. The dims of the layers must not become longer.
TEST(BroadcastDim, StaysShortAlongAChain) {
  const DimExpr length = DimExpr::symbol("length", {.min = 1});
  const DimExpr past = DimExpr::symbol("past");
  const DimExpr part = min(length + past, 1024) - min(past, 1024);
  DimExpr dim = length;
  for (int layer = 0; layer < 100; ++layer) {
    const std::optional<DimExpr> next = broadcast_dim(part, dim);
    ASSERT_TRUE(next.has_value());
    dim = *next;
  }
  EXPECT_EQ(dim.str(), "length");
  EXPECT_TRUE(refuses_one_and_zero(part, length));
}

TEST(BroadcastDim, OfOneSymbolIsExact) {
  const DimExpr w = DimExpr::symbol("w", {.min = 1, .max = 17});
  const DimExpr half = floordiv(w, 2);
  const std::optional<DimExpr> dim = broadcast_dim(half, w);
  ASSERT_TRUE(dim.has_value());
  for (const int64_t size : {1, 2}) {
    const auto value = [&](std::string_view) { return std::optional(size); };
    EXPECT_EQ(dim->evaluate(value), size == 1 ? 0 : 2);
  }
  EXPECT_FALSE(refuses_one_and_zero(half, w));
}

}  // namespace
}  // namespace scopevm::compiler::graph
