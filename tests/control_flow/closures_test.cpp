// Closures in MLIR assembly: created, selected by a branch, passed as arguments and called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control_flow/run_graph.h"

namespace scopevm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const char kFunctions[] = R"(
    !b = !sv.tensor<bool[]>
    !f = !sv.tensor<f32[]>
    !n = !sv.tensor<f32[n]>
    !unary = !sv.closure<(!sv.tensor<f32[m]>) -> !sv.tensor<f32[m]>>
    !binary = !sv.closure<(!f, !f) -> !f>
    func.func private @scale(%by: !f, %x: !n) -> !n {
      %0 = sv.mul %by, %x : (!f, !n) -> !n
      return %0 : !n
    }
    func.func private @shift(%by: !f, %x: !n) -> !n {
      %0 = sv.add %by, %x : (!f, !n) -> !n
      return %0 : !n
    }
    func.func private @add(%a: !f, %b: !f) -> !f {
      %0 = sv.add %a, %b : (!f, !f) -> !f
      return %0 : !f
    }
)";

std::string closures_module(const std::string& functions) { return kFunctions + functions; }

TEST(Closure, BranchSelectsTheClosure) {
  Graph graph(closures_module(R"(
    func.func @main(%c: !b, %by: !f, %x: !n) -> !n {
      %half = sv.add %by, %by : (!f, !f) -> !f
      %0 = sv.closure @shift(%by) : (!f) -> !unary
      %1 = sv.if %c : (!b) -> !unary {
        %2 = sv.closure @scale(%half) : (!f) -> !unary
        sv.yield %2 : !unary
      } else {
        sv.yield %0 : !unary
      }
      %3 = sv.call_closure %1(%x) : (!unary, !n) -> !n
      return %3 : !n
    })"));
  EXPECT_THAT(elements(graph.run({boolean(true), floats({}, {3}), floats({1, 2})})[0]),
              ElementsAre(6, 12));
  expect_within_bounds(graph.stats());
  EXPECT_THAT(elements(graph.run({boolean(false), floats({}, {3}), floats({1, 2})})[0]),
              ElementsAre(4, 5));
}

// A captured value does not change when the plan reuses the memory of the original value.
TEST(Closure, KeepsCapturedValues) {
  Graph graph(closures_module(R"(
    func.func private @make(%x: !n) -> !sv.closure<(!sv.tensor<f32[m]>) -> !sv.tensor<f32[m]>> {
      %0 = sv.neg %x : (!n) -> !n
      %1 = sv.reduce_sum %0 {axes = array<i64: 0>, keep_dims = false} : (!n) -> !f
      %2 = sv.closure @scale(%1) : (!f) -> !unary
      return %2 : !unary
    }
    func.func @main(%x: !n) -> (!n, !n) {
      %0 = sv.softmax %x {axis = 0 : i64} : (!n) -> !n
      %1 = sv.add %0, %x : (!n, !n) -> !n
      %2 = sv.call @make(%1) : (!n) -> !unary
      %3 = sv.softmax %1 {axis = 0 : i64} : (!n) -> !n
      %4 = sv.softmax %3 {axis = 0 : i64} : (!n) -> !n
      %5 = sv.sub %4, %4 : (!n, !n) -> !n
      %6 = sv.add %5, %x : (!n, !n) -> !n
      %7 = sv.call_closure %2(%6) : (!unary, !n) -> !n
      %8 = sv.call_closure %2(%7) : (!unary, !n) -> !n
      return %7, %8 : !n, !n
    })"));
  std::vector<Tensor> results = graph.run({floats({1, 2})});
  EXPECT_THAT(elements(results[0]), ElementsAre(-4, -8));
  EXPECT_THAT(elements(results[1]), ElementsAre(16, 32));
  expect_within_bounds(graph.stats());
}

TEST(Closure, CapturesConstantsAndCarriedValues) {
  Graph graph(closures_module(R"(
    func.func @main(%x: !n) -> (!n, !n) {
      %two = sv.constant {value = dense<2.0> : tensor<f32>} : !f
      %0 = sv.closure @scale(%two) : (!f) -> !unary
      %1 = sv.call_closure %0(%x) : (!unary, !n) -> !n
      %2:2 = sv.loop %x, %two {index = "$i", trip_count = #sv.dims<[3]>} : (!n, !f) -> (!n, !f) {
      ^bb0(%s: !n, %by: !f):
        %3 = sv.closure @shift(%by) : (!f) -> !unary
        %4 = sv.mul %by, %by : (!f, !f) -> !f
        %5 = sv.call_closure %3(%s) : (!unary, !n) -> !n
        %6 = sv.call_closure %0(%5) : (!unary, !n) -> !n
        sv.yield %6, %4 : !n, !f
      }
      return %1, %2#0 : !n, !n
    })"));
  std::vector<Tensor> results = graph.run({floats({1, 2})});
  EXPECT_THAT(elements(results[0]), ElementsAre(2, 4));
  // The first element is (((1 + 2) * 2 + 4) * 2 + 16) * 2.
  EXPECT_THAT(elements(results[1]), ElementsAre(72, 80));
  expect_within_bounds(graph.stats());
}

TEST(Closure, MapsOverRowsByRecursion) {
  Graph graph(closures_module(R"mlir(
    !row = !sv.tensor<f32[1, 2]>
    !rows = !sv.tensor<f32[n, 2]>
    !rest = !sv.tensor<f32["n-1", 2]>
    !of_row = !sv.closure<(!row) -> !row>
    func.func private @map(%f: !of_row, %x: !rows) -> !rows {
      %length = sv.dims_tensor {dims = #sv.dims<[n]>, scalar = true} : () -> !sv.tensor<i64[]>
      %one = sv.constant {value = dense<1> : tensor<i64>} : !sv.tensor<i64[]>
      %c = sv.equal %length, %one : (!sv.tensor<i64[]>, !sv.tensor<i64[]>) -> !b
      %first = sv.slice %x {starts = #sv.dims<[0, 0]>, sizes = #sv.dims<[1, 2]>,
                            steps = array<i64: 1, 1>} : (!rows) -> !row
      %y = sv.call_closure %f(%first) : (!of_row, !row) -> !row
      %0 = sv.if %c : (!b) -> !rows {
        %1 = sv.reshape %y {dims = #sv.dims<[n, 2]>} : (!row) -> !rows
        sv.yield %1 : !rows
      } else {
        %1 = sv.slice %x {starts = #sv.dims<[1, 0]>, sizes = #sv.dims<["n-1", 2]>,
                          steps = array<i64: 1, 1>} : (!rows) -> !rest
        %2 = sv.call @map(%f, %1) : (!of_row, !rest) -> !rest
        %3 = sv.concat %y, %2 {axis = 0 : i64} : (!row, !rest) -> !rows
        sv.yield %3 : !rows
      }
      return %0 : !rows
    }
    func.func private @minus(%what: !row, %x: !row) -> !row {
      %0 = sv.sub %x, %what : (!row, !row) -> !row
      return %0 : !row
    }
    func.func @main(%x: !rows) -> !rows {
      %last = sv.slice %x {starts = #sv.dims<["n-1", 0]>, sizes = #sv.dims<[1, 2]>,
                           steps = array<i64: 1, 1>} : (!rows) -> !row
      %f = sv.closure @minus(%last) : (!row) -> !of_row
      %0 = sv.call @map(%f, %x) : (!of_row, !rows) -> !rows
      return %0 : !rows
    })mlir"));
  EXPECT_THAT(elements(graph.run({floats({3, 2}, {1, 2, 3, 4, 5, 7})})[0]),
              ElementsAre(-4, -5, -2, -3, 0, 0));
  expect_within_bounds(graph.stats());
  EXPECT_THAT(elements(graph.run({floats({1, 2}, {1, 2})})[0]), ElementsAre(0, 0));
}

TEST(Closure, FoldsByRecursion) {
  Graph graph(closures_module(R"mlir(
    !some = !sv.tensor<f32["$n"]>
    !rest = !sv.tensor<f32["$n-1"]>
    func.func private @fold(%f: !binary, %start: !f, %x: !some) -> !f {
      %length = sv.dims_tensor {dims = #sv.dims<["$n"]>, scalar = true} : () -> !sv.tensor<i64[]>
      %zero = sv.constant {value = dense<0> : tensor<i64>} : !sv.tensor<i64[]>
      %c = sv.equal %length, %zero : (!sv.tensor<i64[]>, !sv.tensor<i64[]>) -> !b
      %0 = sv.if %c : (!b) -> !f {
        sv.yield %start : !f
      } else {
        %1 = sv.slice %x {starts = #sv.dims<[0]>, sizes = #sv.dims<[1]>, steps = array<i64: 1>}
            : (!some) -> !sv.tensor<f32[1]>
        %2 = sv.reshape %1 {dims = #sv.dims<[]>} : (!sv.tensor<f32[1]>) -> !f
        %3 = sv.slice %x {starts = #sv.dims<[1]>, sizes = #sv.dims<["$n-1"]>,
                          steps = array<i64: 1>} : (!some) -> !rest
        %4 = sv.call_closure %f(%start, %2) : (!binary, !f, !f) -> !f
        %5 = sv.call @fold(%f, %4, %3) : (!binary, !f, !rest) -> !f
        sv.yield %5 : !f
      }
      return %0 : !f
    }
    func.func @main(%start: !f, %x: !n) -> !f {
      %f = sv.closure @add() : () -> !binary
      %0 = sv.call @fold(%f, %start, %x) : (!binary, !f, !n) -> !f
      return %0 : !f
    })mlir"));
  EXPECT_THAT(elements(graph.run({floats({}, {10}), floats({1, 2, 3, 4})})[0]), ElementsAre(20));
  expect_within_bounds(graph.stats());
}

// A result dim that depends on a captured value is a runtime-defined symbol: the call defines it.
TEST(Closure, ResultDimsOfCapturedValuesAreSymbols) {
  Graph graph(R"mlir(
    !n = !sv.tensor<f32[n]>
    !m = !sv.tensor<f32[m]>
    func.func private @outer(%a: !n, %b: !m) -> !sv.tensor<f32[n, m]> {
      %0 = sv.reshape %a {dims = #sv.dims<[n, 1]>} : (!n) -> !sv.tensor<f32[n, 1]>
      %1 = sv.mul %0, %b : (!sv.tensor<f32[n, 1]>, !m) -> !sv.tensor<f32[n, m]>
      return %1 : !sv.tensor<f32[n, m]>
    }
    func.func @main(%a: !n, %b: !m) -> !sv.tensor<f32["$rows", m]> {
      %f = sv.closure @outer(%a) : (!n) -> !sv.closure<(!m) -> !sv.tensor<f32[k, m]>>
      %0 = sv.call_closure %f(%b) {symbols = ["$rows"]}
          : (!sv.closure<(!m) -> !sv.tensor<f32[k, m]>>, !m) -> !sv.tensor<f32["$rows", m]>
      %1 = sv.neg %0 : (!sv.tensor<f32["$rows", m]>) -> !sv.tensor<f32["$rows", m]>
      return %1 : !sv.tensor<f32["$rows", m]>
    })mlir");
  std::vector<Tensor> results = graph.run({floats({1, 2}), floats({3, 4, 5})});
  EXPECT_THAT(dims(results[0]), ElementsAre(2, 3));
  EXPECT_THAT(elements(results[0]), ElementsAre(-3, -4, -5, -6, -8, -10));
  expect_within_bounds(graph.stats());
}

// The closure's type does not contain the dims of captured values, so the callee checks them.
TEST(Closure, ArgumentDimsMustMatchCapturedValues) {
  Graph graph(closures_module(R"(
    func.func private @sum(%x: !n, %y: !n) -> !n {
      %0 = sv.add %x, %y : (!n, !n) -> !n
      return %0 : !n
    }
    func.func @main(%x: !n, %y: !sv.tensor<f32[m]>) -> !sv.tensor<f32[m]> {
      %f = sv.closure @sum(%x) : (!n) -> !unary
      %0 = sv.call_closure %f(%y) : (!unary, !sv.tensor<f32[m]>) -> !sv.tensor<f32[m]>
      return %0 : !sv.tensor<f32[m]>
    })"));
  EXPECT_THAT(elements(graph.run({floats({1, 2}), floats({3, 4})})[0]), ElementsAre(4, 6));
  Status status = graph.status_of({floats({1, 2}), floats({3, 4, 5})});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()),
            "main > sum: input \"input1\" dim 0 is 3, but n is 2 (from input \"input0\" dim 0)");
}

// --- Invalid closures. --------------------------------------------------------------------------

std::string error_of(const std::string& body) {
  Status status = Graph::compile_error(closures_module(
      "func.func @main(%f: !f, %x: !n, %c: !b) -> !n {" + body + "return %x : !n\n}"));
  EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
  return std::string(status.message());
}

TEST(Closure, InvalidClosureIsAnError) {
  EXPECT_THAT(error_of("%0 = sv.closure @scale(%x) : (!n) -> !unary\n"),
              HasSubstr("argument 0 is f32[n], but @scale takes f32[]"));
  EXPECT_THAT(error_of("%0 = sv.closure @gone(%x) : (!n) -> !unary\n"),
              HasSubstr("unknown function @gone"));
  EXPECT_THAT(error_of("%0 = sv.closure @main(%f) : (!f) -> !unary\n"),
              HasSubstr("cannot call the entry function @main"));
  EXPECT_THAT(error_of("%0 = sv.closure @add(%f, %f, %f) : (!f, !f, !f) -> !unary\n"),
              HasSubstr("@add takes 2 arguments, given 3"));
  EXPECT_THAT(error_of("%0 = sv.closure @add(%f) : (!f) -> !unary\n"),
              HasSubstr("expected closure (f32[]) -> (f32[]) for @add"));
  EXPECT_THAT(error_of("%0 = sv.closure @scale(%f) : (!f) -> !unary\n"
                       "%1 = sv.call_closure %0(%c) : (!unary, !b) -> !n\n"),
              HasSubstr("argument 0 is bool[], but the closure takes f32[m]"));
  EXPECT_THAT(error_of("%0 = sv.closure @scale(%f) : (!f) -> !unary\n"
                       "%1 = sv.call_closure %0(%x) : (!unary, !n) -> !f\n"),
              HasSubstr("result 0 is f32[], but the closure returns f32[n]"));
  EXPECT_THAT(error_of("%0 = sv.closure @add() : () -> !binary\n"
                       "%1 = sv.closure @scale(%f) : (!f) -> !unary\n"
                       "%2 = sv.if %c : (!b) -> !unary {\n"
                       "sv.yield %0 : !binary\n} else {\nsv.yield %1 : !unary\n}\n"),
              HasSubstr("a yielded value has type closure"));
  EXPECT_THAT(error_of("%0 = sv.closure @add() : () -> !binary\n"
                       "%1 = sv.neg %0 : (!binary) -> !n\n"),
              HasSubstr("operand #0 must be tensor, but got '!sv.closure"));
  EXPECT_THAT(error_of("%0 = sv.closure @add() : () -> !binary\n"
                       "%1 = sv.list %0 : (!binary) -> !sv.list<sequence f32>\n"),
              HasSubstr("operand #0 must be variadic of tensor or list, but got '!sv.closure"));
}

TEST(Closure, MainHasNoClosureParametersOrResults) {
  for (const char* main :
       {"func.func @main(%f: !unary, %x: !n) -> !n { return %x : !n }",
        "func.func @main(%x: !f) -> !unary {\n%0 = sv.closure @scale(%x) : (!f) -> !unary\n"
        "return %0 : !unary }"})
    EXPECT_THAT(std::string(Graph::compile_error(closures_module(main)).message()),
                HasSubstr("@main cannot take or return closures: the runtime API has none"));
}

}  // namespace
}  // namespace scopevm
