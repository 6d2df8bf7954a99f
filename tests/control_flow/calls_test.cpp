// Calls of functions: arguments and results, result sizes that depend on the callee's data, and
// invalid calls. recursion_test.cpp tests recursion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control_flow/call_graph.h"

namespace scopevm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const char kTwice[] = R"(
    func.func private @twice(%x: !n) -> !n {
      %0 = sv.add %x, %x : (!n, !n) -> !n
      %1 = sv.neg %0 : (!n) -> !n
      %2 = sv.softmax %1 {axis = 0 : i64} : (!n) -> !n
      %3 = sv.sub %2, %2 : (!n, !n) -> !n
      %4 = sv.add %0, %3 : (!n, !n) -> !n
      return %4 : !n
    })";

TEST(Call, FunctionAcceptsArgumentsOfDifferentShapes) {
  Graph graph(module_of(kTwice) + R"(
    func.func @main(%x: !n, %y: !sv.tensor<f32[m]>) -> (!n, !sv.tensor<f32[m]>) {
      %0 = sv.call @twice(%x) : (!n) -> !n
      %1 = sv.call @twice(%0) : (!n) -> !n
      %2 = sv.call @twice(%y) : (!sv.tensor<f32[m]>) -> !sv.tensor<f32[m]>
      return %1, %2 : !n, !sv.tensor<f32[m]>
    })");
  std::vector<Tensor> results = graph.run({floats({1, 2, 3}), floats({5})});
  EXPECT_THAT(elements(results[0]), ElementsAre(4, 8, 12));
  EXPECT_THAT(elements(results[1]), ElementsAre(10));
  expect_within_bounds(graph.stats());
}

TEST(Call, AcceptsViewsConstantsAndSlicesAsArguments) {
  Graph graph(module_of(kTwice) + R"(
    func.func @main(%x: !sv.tensor<f32[n, 2]>)
        -> (!sv.tensor<f32["2*n"]>, !sv.tensor<f32[3]>, !sv.tensor<f32[2]>) {
      %0 = sv.neg %x : (!sv.tensor<f32[n, 2]>) -> !sv.tensor<f32[n, 2]>
      %1 = sv.reshape %0 {dims = #sv.dims<["2*n"]>}
          : (!sv.tensor<f32[n, 2]>) -> !sv.tensor<f32["2*n"]>
      %2 = sv.call @twice(%1) : (!sv.tensor<f32["2*n"]>) -> !sv.tensor<f32["2*n"]>
      %3 = sv.constant {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : !sv.tensor<f32[3]>
      %4 = sv.call @twice(%3) : (!sv.tensor<f32[3]>) -> !sv.tensor<f32[3]>
      %5 = sv.exp %x : (!sv.tensor<f32[n, 2]>) -> !sv.tensor<f32[n, 2]>
      %6 = sv.log %5 : (!sv.tensor<f32[n, 2]>) -> !sv.tensor<f32[n, 2]>
      %7 = sv.softmax %6 {axis = 1 : i64} : (!sv.tensor<f32[n, 2]>) -> !sv.tensor<f32[n, 2]>
      %8 = sv.slice %7 {starts = #sv.dims<["n-1", 0]>, sizes = #sv.dims<[1, 2]>,
                        steps = array<i64: 1, 1>}
          : (!sv.tensor<f32[n, 2]>) -> !sv.tensor<f32[1, 2]>
      %9 = sv.reshape %8 {dims = #sv.dims<[2]>} : (!sv.tensor<f32[1, 2]>) -> !sv.tensor<f32[2]>
      %10 = sv.call @twice(%9) : (!sv.tensor<f32[2]>) -> !sv.tensor<f32[2]>
      return %2, %4, %10 : !sv.tensor<f32["2*n"]>, !sv.tensor<f32[3]>, !sv.tensor<f32[2]>
    })");
  std::vector<Tensor> results = graph.run({floats({2, 2}, {1, 2, 3, 3})});
  EXPECT_THAT(elements(results[0]), ElementsAre(-2, -4, -6, -6));
  EXPECT_THAT(dims(results[0]), ElementsAre(4));
  EXPECT_THAT(elements(results[1]), ElementsAre(2, 4, 6));
  EXPECT_THAT(elements(results[2]), ElementsAre(1, 1));
  expect_within_bounds(graph.stats());
}

TEST(Call, RunsInBranchesAndLoops) {
  Graph graph(module_of(kTwice) + R"(
    func.func @main(%c: !b, %count: !i, %x: !n) -> (!n, !n, !sv.tensor<f32["$count", n]>) {
      %0 = sv.if %c : (!b) -> !n {
        %1 = sv.call @twice(%x) : (!n) -> !n
        sv.yield %1 : !n
      } else {
        sv.yield %x : !n
      }
      sv.read_dims %count {symbols = ["$count"]} : !i
      %2:2 = sv.loop %0 {index = "$i", trip_count = #sv.dims<["$count"]>}
          : (!n) -> (!n, !sv.tensor<f32["$count", n]>) {
      ^bb0(%s: !n):
        %3 = sv.call @twice(%s) : (!n) -> !n
        sv.yield %3, %3 : !n, !n
      }
      return %0, %2#0, %2#1 : !n, !n, !sv.tensor<f32["$count", n]>
    })");
  std::vector<Tensor> results = graph.run({boolean(true), integer(3), floats({1, 2})});
  EXPECT_THAT(elements(results[0]), ElementsAre(2, 4));
  EXPECT_THAT(elements(results[1]), ElementsAre(16, 32));
  EXPECT_THAT(elements(results[2]), ElementsAre(4, 8, 8, 16, 16, 32));
  expect_within_bounds(graph.stats());
  results = graph.run({boolean(false), integer(0), floats({1, 2})});
  EXPECT_THAT(elements(results[1]), ElementsAre(1, 2));
  expect_within_bounds(graph.stats());
}

// A value that only one branch reads is also released on the path through the other branch.
TEST(Call, ResultUsedByOneBranchIsReleasedInTheOther) {
  Graph graph(module_of(kTwice) + R"(
    func.func @main(%c: !b, %x: !n) -> !n {
      %0 = sv.call @twice(%x) : (!n) -> !n
      %1 = sv.if %c : (!b) -> !n {
        sv.yield %0 : !n
      } else {
        sv.yield %x : !n
      }
      %2 = sv.call @twice(%1) : (!n) -> !n
      %3 = sv.call @twice(%2) : (!n) -> !n
      %4 = sv.add %2, %3 : (!n, !n) -> !n
      return %4 : !n
    })");
  for (bool condition : {true, false}) {
    EXPECT_THAT(elements(graph.run({boolean(condition), floats({1, 2})})[0]),
                condition ? ElementsAre(12, 24) : ElementsAre(6, 12));
    expect_within_bounds(graph.stats());
  }
}

TEST(Call, ResultReturnedTwiceHasTwoStorages) {
  Graph graph(module_of(kTwice) + R"(
    func.func @main(%x: !n) -> (!n, !n) {
      %0 = sv.call @twice(%x) : (!n) -> !n
      return %0, %0 : !n, !n
    })");
  std::vector<Tensor> results = graph.run({floats({1, 2})});
  EXPECT_THAT(elements(results[0]), ElementsAre(2, 4));
  EXPECT_THAT(elements(results[1]), ElementsAre(2, 4));
  EXPECT_NE(results[0].data(), results[1].data());
}

TEST(Call, FunctionCanReturnItsArguments) {
  Graph graph(module_of(R"(
    func.func private @swap(%x: !n, %y: !f) -> (!f, !n, !n) {
      return %y, %x, %x : !f, !n, !n
    }
    func.func @main(%x: !n, %y: !f) -> (!n, !f) {
      %0:3 = sv.call @swap(%x, %y) : (!n, !f) -> (!f, !n, !n)
      %1 = sv.add %0#1, %0#2 : (!n, !n) -> !n
      return %1, %0#0 : !n, !f
    })"));
  std::vector<Tensor> results = graph.run({floats({1, 2}), floats({}, {7})});
  EXPECT_THAT(elements(results[0]), ElementsAre(2, 4));
  EXPECT_THAT(elements(results[1]), ElementsAre(7));
  expect_within_bounds(graph.stats());
}

// Each iteration releases the result of its call. With a trip count of 0, no call runs.
TEST(Call, LoopConditionIsTheResultOfACall) {
  Graph graph(module_of(R"(
    func.func private @is_small(%x: !n) -> !b {
      %0 = sv.reduce_max %x {axes = array<i64: 0>, keep_dims = false} : (!n) -> !f
      %1 = sv.constant {value = dense<10.0> : tensor<f32>} : !f
      %2 = sv.less %0, %1 : (!f, !f) -> !b
      return %2 : !b
    }
    func.func @main(%count: !i, %x: !n) -> !n {
      sv.read_dims %count {symbols = ["$count"]} : !i
      %0 = sv.loop %x {has_condition = true, index = "$i", trip_count = #sv.dims<["$count"]>}
          : (!n) -> !n {
      ^bb0(%s: !n):
        %1 = sv.add %s, %s : (!n, !n) -> !n
        %2 = sv.call @is_small(%1) : (!n) -> !b
        sv.yield %2, %1 : !b, !n
      }
      return %0 : !n
    })"));
  EXPECT_THAT(elements(graph.run({integer(8), floats({1, 3})})[0]), ElementsAre(4, 12));
  EXPECT_THAT(elements(graph.run({integer(1), floats({1, 3})})[0]), ElementsAre(2, 6));
  EXPECT_THAT(elements(graph.run({integer(0), floats({1, 3})})[0]), ElementsAre(1, 3));
  expect_within_bounds(graph.stats());
}

// --- Sizes that depend on the callee's data. ----------------------------------------------------

const char kPlaces[] = R"mlir(
    !places = !sv.tensor<i64[1, "$k"]>
    func.func private @places(%x: !n) -> !places {
      %starts, %count = sv.count_nonzero %x
          : (!n) -> (!sv.tensor<i64["floordiv(n+4095, 4096)"]>, !sv.tensor<i64[1]>)
      sv.read_dims %count {symbols = ["$k"]} : !sv.tensor<i64[1]>
      %0 = sv.nonzero %x, %starts {count = #sv.dims<["$k"]>}
          : (!n, !sv.tensor<i64["floordiv(n+4095, 4096)"]>) -> !places
      return %0 : !places
    })mlir";

TEST(Call, ResultDimsDependOnTheCalleesData) {
  Graph graph(module_of(kPlaces) + R"(
    func.func @main(%x: !n, %y: !sv.tensor<f32[m]>)
        -> (!sv.tensor<i64[1, "$p+$q"]>, !sv.tensor<i64[1, "$p"]>) {
      %0 = sv.call @places(%x) {symbols = ["$p"]} : (!n) -> !sv.tensor<i64[1, "$p"]>
      %1 = sv.call @places(%y) {symbols = ["$q"]}
          : (!sv.tensor<f32[m]>) -> !sv.tensor<i64[1, "$q"]>
      %2 = sv.concat %0, %1 {axis = 1 : i64}
          : (!sv.tensor<i64[1, "$p"]>, !sv.tensor<i64[1, "$q"]>) -> !sv.tensor<i64[1, "$p+$q"]>
      return %2, %0 : !sv.tensor<i64[1, "$p+$q"]>, !sv.tensor<i64[1, "$p"]>
    })");
  std::vector<Tensor> results = graph.run({floats({0, 1, 0, 2}), floats({3, 0, 3})});
  EXPECT_THAT(integers_of(results[0]), ElementsAre(1, 3, 0, 2));
  EXPECT_THAT(integers_of(results[1]), ElementsAre(1, 3));
  expect_within_bounds(graph.stats());
  results = graph.run({floats({0}), floats({0, 4})});
  EXPECT_THAT(integers_of(results[0]), ElementsAre(1));
  EXPECT_THAT(integers_of(results[1]), IsEmpty());
  expect_within_bounds(graph.stats());
}

// A dimension is at least 1 by default, but a runtime-defined symbol can be 0. A parameter with the
// dim "$n" therefore accepts an empty argument.
TEST(Call, DataDependentParameterAcceptsEmptyArgument) {
  Graph graph(module_of(kPlaces) + R"(
    func.func private @sum(%x: !sv.tensor<i64[1, "$n"]>) -> !sv.tensor<i64[1, 1]> {
      %0 = sv.reduce_sum %x {axes = array<i64: 1>}
          : (!sv.tensor<i64[1, "$n"]>) -> !sv.tensor<i64[1, 1]>
      return %0 : !sv.tensor<i64[1, 1]>
    }
    func.func @main(%x: !n) -> (!sv.tensor<i64[1, 1]>) {
      %0 = sv.call @places(%x) {symbols = ["$p"]} : (!n) -> !sv.tensor<i64[1, "$p"]>
      %1 = sv.call @sum(%0) : (!sv.tensor<i64[1, "$p"]>) -> !sv.tensor<i64[1, 1]>
      return %1 : !sv.tensor<i64[1, 1]>
    })");
  EXPECT_THAT(integers_of(graph.run({floats({0, 5, 6})})[0]), ElementsAre(3));
  EXPECT_THAT(integers_of(graph.run({floats({0, 0})})[0]), ElementsAre(0));
}

TEST(Call, FailedCheckOfTheCalleeNamesTheCallChain) {
  Graph graph(module_of(kPlaces) + R"(
    func.func private @strict(%x: !sv.tensor<i64[1, rows]>) -> !sv.tensor<i64[1, rows]> {
      return %x : !sv.tensor<i64[1, rows]>
    }
    func.func @main(%x: !n) -> !places {
      %0 = sv.call @places(%x) {symbols = ["$k"]} : (!n) -> !places
      %1 = sv.call @strict(%0) : (!places) -> !places
      return %1 : !places
    })");
  EXPECT_THAT(integers_of(graph.run({floats({0, 5})})[0]), ElementsAre(1));
  Status status = graph.status_of({floats({0, 0})});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()),
            "main > strict: dimension rows is 0, below its minimum 1");
}

// --- Invalid calls. -----------------------------------------------------------------------------

// The error of a graph whose @main contains `call` and returns %0 of type `given`.
std::string wrong_call(const std::string& call, const std::string& given = "!n") {
  Status status = Graph::compile_error(module_of(kTwice) + R"(
    func.func private @add(%x: !n, %y: !n, %z: !sv.tensor<f32["2*n"]>) -> !n {
      %0 = sv.add %x, %y : (!n, !n) -> !n
      return %0 : !n
    }
    func.func @main(%x: !n, %y: !sv.tensor<f32[m]>, %i: !i) -> )" +
                                       given + R"( {
      )" + call + R"(
      return %0 : )" + given + R"(
    })");
  EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
  return std::string(status.message());
}

TEST(Call, InvalidCallIsAnError) {
  EXPECT_THAT(wrong_call("%0 = sv.call @thrice(%x) : (!n) -> !n"),
              HasSubstr("unknown function @thrice"));
  EXPECT_THAT(wrong_call("%0:3 = sv.call @main(%x, %y, %i) : (!n, !sv.tensor<f32[m]>, !i) -> (!n, "
                         "!n, !n)"),
              HasSubstr("cannot call the entry function @main"));
  EXPECT_THAT(wrong_call("%0 = sv.call @twice(%x, %x) : (!n, !n) -> !n"),
              HasSubstr("@twice takes 1 argument, given 2"));
  EXPECT_THAT(wrong_call("%0 = sv.call @twice(%i) : (!i) -> !n"),
              HasSubstr("argument 0 is i64[], but @twice takes f32[n]"));
  EXPECT_THAT(wrong_call("%0:2 = sv.call @twice(%x) : (!n) -> (!n, !n)"),
              HasSubstr("has 2 results, but @twice returns 1"));
  EXPECT_THAT(wrong_call("%0 = sv.call @twice(%y) : (!sv.tensor<f32[m]>) -> !n"),
              HasSubstr("result 0 is f32[n], but @twice returns f32[m]"));
  EXPECT_THAT(wrong_call("%0 = sv.call @add(%x, %y, %x) : (!n, !sv.tensor<f32[m]>, !n) -> !n"),
              HasSubstr("argument 1 is f32[m], but @add takes f32[n]"));
  EXPECT_THAT(wrong_call("%0 = sv.call @add(%y, %y, %x) : (!sv.tensor<f32[m]>, !sv.tensor<f32[m]>, "
                         "!n) -> !sv.tensor<f32[m]>",
                         "!sv.tensor<f32[m]>"),
              HasSubstr("argument 2 is f32[n], but @add takes f32[2*n] with 2*n = 2*m"));
  EXPECT_THAT(wrong_call("%0 = sv.call @twice(%x) {symbols = [\"$k\"]} : (!n) -> !n"),
              HasSubstr("symbols has 1 name, expected 0, one for each data-dependent dim in the "
                        "results of @twice"));
  EXPECT_THAT(wrong_call("%0 = sv.call @twice(%x) {symbols = [\"k\"]} : (!n) -> !n"),
              HasSubstr("symbol \"k\" must start with '$'"));
}

TEST(Call, SymbolsAreRequiredForDataDependentResultDims) {
  Status status = Graph::compile_error(module_of(kPlaces) + R"(
    func.func @main(%x: !n) -> !places {
      %0 = sv.call @places(%x) : (!n) -> !places
      return %0 : !places
    })");
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("symbols has 0 names, expected one more for dim $k of the results of @places"));
}

TEST(Function, InvalidFunctionIsAnError) {
  auto error = [](const std::string& function) {
    return std::string(Graph::compile_error(module_of(function) + R"(
    func.func @main(%x: !n) -> !n {
      return %x : !n
    })")
                           .message());
  };
  EXPECT_THAT(error("func.func private @f(!n) -> !n"), HasSubstr("@f has no body"));
  EXPECT_THAT(error("func.func private @f(%x: f32) -> f32 { return %x : f32 }"),
              HasSubstr("@f takes or returns f32, expected !sv.tensor, !sv.list or !sv.closure"));
  EXPECT_THAT(error("func.func private @\"f.1\"(%x: !n) -> !n { return %x : !n }"),
              HasSubstr("@f.1: a function name must consist of letters, digits and _"));
  EXPECT_THAT(error("func.func private @f(%x: !n) { return }"),
              HasSubstr("@f has no results, expected at least 1"));
}

}  // namespace
}  // namespace scopevm
