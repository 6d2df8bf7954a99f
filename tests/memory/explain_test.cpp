// Tests of the request for which memory plans are explained.
#include "compiler/memory/explain/explain.h"

#include <gtest/gtest.h>

#include "tests/memory/random_functions.h"

namespace scopevm::compiler::memory {
namespace {

TEST(Explain, RepresentativeDimsSatisfyChecks) {
  const DimExpr n = DimExpr::symbol("n"), m = DimExpr::symbol("m");
  Function function;
  function.dimensions = {{.name = "n", .max = 1024, .representative = 64},
                         {.name = "m", .max = 1024, .representative = 64}};
  const ValueId x = add_input(function, {n, m});
  add_output(function, add_step(function, {x}, {n}));
  function.checks = {{.kind = Check::Kind::kEqual, .lhs = m, .rhs = n + 3, .message = "{0} {1}"}};
  const ShapeProgram shapes = *ShapeProgram::create(function);
  const auto request = explained_request(function, shapes, {});
  ASSERT_TRUE(request.ok()) << request.status().message();
  EXPECT_EQ(request->symbols.at("m"), 67);
  const auto wrong = explained_request(function, shapes, {.dims = {{"m", 7}, {"n", 5}}});
  EXPECT_EQ(wrong.status().message(), "7 8");
}

TEST(Explain, RefusesUnknownDimension) {
  const Function function = random_function(1, 5);
  const ShapeProgram shapes = *ShapeProgram::create(function);
  const auto request = explained_request(function, shapes, {.dims = {{"k", 3}}, .threads = 1});
  EXPECT_EQ(request.status().message(), "unknown dimension \"k\"; known: m, n");
  const auto large = explained_request(function, shapes, {.dims = {{"n", 5000}}, .threads = 1});
  EXPECT_EQ(large.status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace scopevm::compiler::memory
