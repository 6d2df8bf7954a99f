// ShapeProgram: its checks, values and slots for the dims of a function.
#include "compiler/shapes/shape_program.h"

#include <gtest/gtest.h>

namespace scopevm::compiler {
namespace {

const DimExpr n = DimExpr::symbol("n"), m = DimExpr::symbol("m");

Function function_of(std::vector<std::vector<DimExpr>> inputs) {
  Function function;
  const char* names[] = {"a", "b", "c"};
  for (size_t i = 0; i < inputs.size(); ++i) {
    function.values.push_back(
        {.name = names[i], .shape = inputs[i], .origin = ValueOrigin::kInput});
    function.inputs.push_back(static_cast<ValueId>(i));
  }
  return function;
}

std::vector<std::string> messages(const ShapeProgram& program) {
  std::vector<std::string> all;
  for (const ShapeProgram::Condition& c : program.conditions()) all.push_back(c.message);
  return all;
}

using Messages = std::vector<std::string>;

TEST(ShapeProgram, ChecksDeclaredInputs) {
  Result<ShapeProgram> program = ShapeProgram::create(function_of({{n, 3}, {m, n}, {n + m}}));
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->dim_count(), 5u);
  EXPECT_EQ(messages(*program),
            (Messages{"input \"a\" dim 1 is {0}, expected {1}",
                      "input \"b\" dim 1 is {0}, but n is {1} (from input \"a\" dim 0)",
                      "input \"c\" dim 0 is {0}, expected {1} (m+n with m = {2} from input \"b\" "
                      "dim 0, n = {3} "
                      "from input \"a\" dim 0)"}));
}

TEST(ShapeProgram, ASymbolMayBeBoundAfterItsFirstUseInAnExpression) {
  EXPECT_TRUE(ShapeProgram::create(function_of({{2 * n}, {n}})).ok());
}

TEST(ShapeProgram, ChecksBoundsOfDimensions) {
  Function function = function_of({{n}});
  function.dimensions = {{"n", 2, 64, 4, 8}};
  Result<ShapeProgram> program = ShapeProgram::create(function);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(messages(*program), (Messages{"dimension n is {0}, below its minimum {1}",
                                          "dimension n is {1}, above its maximum {0}",
                                          "dimension n is {0}, not a multiple of {1}"}));
}

TEST(ShapeProgram, ChecksThatNoResultHasANegativeDim) {
  Function function = function_of({{n}});
  function.values.push_back({.name = "pool_1", .shape = {2, floordiv(n - 5, 2) + 1}});
  function.values.push_back({.name = "relu_1", .shape = {2, floordiv(n - 5, 2) + 1}});
  function.values.push_back({.name = "pad_1", .shape = {n + 2}});
  Result<ShapeProgram> program = ShapeProgram::create(function);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(messages(*program),
            (Messages{"\"pool_1\" dim 1 is {0}, expected at least 0: an input is too small"}));
}

TEST(ShapeProgram, RejectsSizesThatNoInputDetermines) {
  Function function = function_of({{n}});
  function.values.push_back({.name = "nonzero", .shape = {DimExpr::symbol("k")}});
  Status status = ShapeProgram::create(function).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(),
            "\"nonzero\" dim 0 depends on symbol \"k\", which no input dimension defines");

  Function other = function_of({{n}});
  other.steps.push_back({.name = "conv", .work = step::Launch{.params = {DimExpr::symbol("k")}}});
  EXPECT_EQ(ShapeProgram::create(other).status().message(),
            "\"conv\" depends on symbol \"k\", which no input dimension defines");
}

TEST(ShapeProgram, EqualComputationsAreOneValueAndOneSlot) {
  ShapeProgram program = *ShapeProgram::create(function_of({{n}, {m}}));
  EXPECT_EQ(program.value(n * m + 1), program.add(program.value(m * n), program.constant(1)));
  EXPECT_EQ(program.slot_of(program.value(n)), program.slot_of(program.value(n)));
  EXPECT_EQ(program.max(program.value(n), program.value(n)), program.value(n));
  EXPECT_EQ(program.add(program.constant(2), program.constant(3)), program.constant(5));
}

TEST(ShapeProgram, BlocksAreConsecutiveAndShared) {
  ShapeProgram program = *ShapeProgram::create(function_of({{n}, {m}}));
  std::vector<ShapeProgram::ValueIndex> params = {program.value(n), program.value(m),
                                                  program.value(n)};
  const SlotIndex block = program.block_of(params);
  for (uint32_t i = 0; i < params.size(); ++i)
    EXPECT_EQ(program.stores()[{block.value + i}], params[i]);
  EXPECT_EQ(program.block_of(params), block);
  EXPECT_NE(program.block_of({program.value(m), program.value(n)}), block);
}

TEST(ShapeProgram, EvaluatesAtGivenDims) {
  ShapeProgram program = *ShapeProgram::create(function_of({{n, 3}, {n * 2}}));
  ShapeProgram::ValueIndex v = program.value(floordiv(n + 1, 2) * DimExpr::symbol(kThreadsSymbol));
  EXPECT_EQ((*program.evaluate({{"n", 7}}, 5))[v], 20);
  EXPECT_EQ(program.evaluate({}, 5), std::nullopt);
  EXPECT_EQ(program.evaluate({{"n", INT64_MAX / 2 + 1}}, 1), std::nullopt);
}

TEST(ShapeProgram, PrintsOneItemPerLine) {
  Function function = function_of({{n}});
  function.dimensions = {{"n", 0, 512}};
  ShapeProgram program = *ShapeProgram::create(function);
  program.slot_of(program.value(4 * n));
  EXPECT_EQ(program.str(),
            "v0 = input_dim 0\n"
            "v1 = constant 0\n"
            "v2 = constant 512\n"
            "v3 = constant 4\n"
            "v4 = mul v3, v0\n"
            "check at_least v0, v1 \"dimension n is {0}, below its minimum {1}\"\n"
            "check at_least v2, v0 \"dimension n is {1}, above its maximum {0}\"\n"
            "s0 := v0\n"
            "s1 := v1\n"
            "s2 := v2\n"
            "s3 := v4\n");
}

}  // namespace
}  // namespace scopevm::compiler
