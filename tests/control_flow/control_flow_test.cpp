// Branches, loops and data-dependent sizes, from MLIR assembly to results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control_flow/run_graph.h"

namespace scopevm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(If, RunsTheSelectedBranch) {
  Graph graph(R"(
    func.func @main(%c: !sv.tensor<bool[]>, %x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
      %0 = sv.if %c : (!sv.tensor<bool[]>) -> !sv.tensor<f32[n]> {
        %1 = sv.add %x, %x : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
        sv.yield %1 : !sv.tensor<f32[n]>
      } else {
        sv.yield %x : !sv.tensor<f32[n]>
      }
      %2 = sv.neg %0 : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
      return %2 : !sv.tensor<f32[n]>
    })");
  EXPECT_THAT(elements(graph.run({boolean(true), floats({1, 2, 3})})[0]), ElementsAre(-2, -4, -6));
  EXPECT_THAT(elements(graph.run({boolean(false), floats({1, 2})})[0]), ElementsAre(-1, -2));
}

TEST(If, BranchesCanHaveDifferentShapes) {
  Graph graph(R"(
    func.func @main(%c: !sv.tensor<bool[]>, %x: !sv.tensor<f32[n]>) -> !sv.tensor<f32["$m"]> {
      %0 = sv.if %c {symbols = ["$m"]} : (!sv.tensor<bool[]>) -> !sv.tensor<f32["$m"]> {
        sv.yield %x : !sv.tensor<f32[n]>
      } else {
        %1 = sv.concat %x, %x {axis = 0 : i64}
            : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32["2*n"]>
        sv.yield %1 : !sv.tensor<f32["2*n"]>
      }
      %2 = sv.neg %0 : (!sv.tensor<f32["$m"]>) -> !sv.tensor<f32["$m"]>
      return %2 : !sv.tensor<f32["$m"]>
    })");
  EXPECT_THAT(elements(graph.run({boolean(true), floats({1, 2, 3})})[0]), ElementsAre(-1, -2, -3));
  EXPECT_THAT(elements(graph.run({boolean(false), floats({1, 2})})[0]),
              ElementsAre(-1, -2, -1, -2));
}

TEST(If, DefinesTheSizeOfAnUnusedResult) {
  Graph graph(R"(
    func.func @main(%c: !sv.tensor<bool[]>, %x: !sv.tensor<f32[n]>) -> !sv.tensor<i64[1]> {
      %0 = sv.if %c {symbols = ["$m"]} : (!sv.tensor<bool[]>) -> !sv.tensor<f32["$m"]> {
        sv.yield %x : !sv.tensor<f32[n]>
      } else {
        %1 = sv.concat %x, %x {axis = 0 : i64}
            : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32["2*n"]>
        sv.yield %1 : !sv.tensor<f32["2*n"]>
      }
      %2 = sv.dims_tensor {dims = #sv.dims<["$m"]>} : () -> !sv.tensor<i64[1]>
      return %2 : !sv.tensor<i64[1]>
    })");
  EXPECT_THAT(integers_of(graph.run({boolean(true), floats({1, 2, 3})})[0]), ElementsAre(3));
  EXPECT_THAT(integers_of(graph.run({boolean(false), floats({1, 2, 3})})[0]), ElementsAre(6));
}

TEST(If, ChecksOfTheUnselectedBranchDoNotRun) {
  Graph graph(R"(
    func.func @main(%c: !sv.tensor<bool[]>, %x: !sv.tensor<f32[n]>, %y: !sv.tensor<f32[m]>)
        -> !sv.tensor<f32[n]> {
      %0 = sv.if %c : (!sv.tensor<bool[]>) -> !sv.tensor<f32[n]> {
        %1 = sv.reshape %y {dims = #sv.dims<[n]>} : (!sv.tensor<f32[m]>) -> !sv.tensor<f32[n]>
        sv.yield %1 : !sv.tensor<f32[n]>
      } else {
        sv.yield %x : !sv.tensor<f32[n]>
      }
      return %0 : !sv.tensor<f32[n]>
    })");
  EXPECT_THAT(elements(graph.run({boolean(false), floats({1, 2, 3}), floats({4, 5})})[0]),
              ElementsAre(1, 2, 3));
  Status status = graph.status_of({boolean(true), floats({1, 2, 3}), floats({4, 5})});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("reshape"));
  EXPECT_THAT(elements(graph.run({boolean(true), floats({1, 2}), floats({4, 5})})[0]),
              ElementsAre(4, 5));
}

// Computes s := s + x `count` times, and gathers the values of s.
const char kSum[] = R"(
    func.func @main(%count: !sv.tensor<i64[]>, %x: !sv.tensor<f32[n]>)
        -> (!sv.tensor<f32[n]>, !sv.tensor<f32["$count", n]>) {
      sv.read_dims %count {symbols = ["$count"]} : !sv.tensor<i64[]>
      %0:2 = sv.loop %x {index = "$i", trip_count = #sv.dims<["$count"]>}
          : (!sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>, !sv.tensor<f32["$count", n]>) {
      ^bb0(%s: !sv.tensor<f32[n]>):
        %1 = sv.add %s, %x : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
        sv.yield %1, %1 : !sv.tensor<f32[n]>, !sv.tensor<f32[n]>
      }
      return %0#0, %0#1 : !sv.tensor<f32[n]>, !sv.tensor<f32["$count", n]>
    })";

TEST(Loop, CarriesAndGathersValues) {
  Graph graph(kSum);
  std::vector<Tensor> results = graph.run({integer(3), floats({1, 2})});
  EXPECT_THAT(elements(results[0]), ElementsAre(4, 8));
  EXPECT_THAT(dims(results[1]), ElementsAre(3, 2));
  EXPECT_THAT(elements(results[1]), ElementsAre(2, 4, 3, 6, 4, 8));
}

TEST(Loop, DefinesTheSizeOfAnUnusedResult) {
  Graph graph(R"(
    func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<i64[1]> {
      %0 = sv.loop %x {index = "$i", carried_symbols = ["$s"], symbols = ["$m"],
                       trip_count = #sv.dims<[3]>}
          : (!sv.tensor<f32[n]>) -> !sv.tensor<f32["$m"]> {
      ^bb0(%s: !sv.tensor<f32["$s"]>):
        %1 = sv.concat %s, %s {axis = 0 : i64}
            : (!sv.tensor<f32["$s"]>, !sv.tensor<f32["$s"]>) -> !sv.tensor<f32["2*$s"]>
        sv.yield %1 : !sv.tensor<f32["2*$s"]>
      }
      %2 = sv.dims_tensor {dims = #sv.dims<["$m"]>} : () -> !sv.tensor<i64[1]>
      return %2 : !sv.tensor<i64[1]>
    })");
  EXPECT_THAT(integers_of(graph.run({floats({1, 2})})[0]), ElementsAre(16));
}

TEST(Loop, ZeroIterations) {
  Graph graph(kSum);
  std::vector<Tensor> results = graph.run({integer(0), floats({1, 2})});
  EXPECT_THAT(elements(results[0]), ElementsAre(1, 2));
  EXPECT_THAT(dims(results[1]), ElementsAre(0, 2));
}

TEST(Loop, AllocatesNothingPerIteration) {
  Graph graph(kSum);
  graph.run({integer(2), floats({1, 2})});
  int64_t workspace = graph.allocations("global.workspace"), results = graph.allocations("global");
  graph.run({integer(2000), floats({1, 2})});
  EXPECT_EQ(graph.allocations("global.workspace"), workspace);
  EXPECT_EQ(graph.allocations("global"), results);
}

// The slice does not depend on the iteration, but it fails if n is less than 4.
TEST(Loop, ChecksOfTheBodyDoNotRunWithZeroIterations) {
  Graph graph(R"(
    func.func @main(%count: !sv.tensor<i64[]>, %x: !sv.tensor<f32[1]>, %y: !sv.tensor<f32[n]>)
        -> !sv.tensor<f32[1]> {
      sv.read_dims %count {symbols = ["$count"]} : !sv.tensor<i64[]>
      %0 = sv.loop %x {index = "$i", trip_count = #sv.dims<["$count"]>}
          : (!sv.tensor<f32[1]>) -> !sv.tensor<f32[1]> {
      ^bb0(%s: !sv.tensor<f32[1]>):
        %1 = sv.slice %y {starts = #sv.dims<["n-4"]>, sizes = #sv.dims<[1]>, steps = array<i64: 1>}
            : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[1]>
        %2 = sv.add %s, %1 : (!sv.tensor<f32[1]>, !sv.tensor<f32[1]>) -> !sv.tensor<f32[1]>
        sv.yield %2 : !sv.tensor<f32[1]>
      }
      return %0 : !sv.tensor<f32[1]>
    })");
  const Tensor x = floats({1}), y = floats({5, 6, 7, 8}), short_y = floats({1, 2, 3});
  EXPECT_THAT(elements(graph.run({integer(2), x, y})[0]), ElementsAre(11));
  EXPECT_THAT(elements(graph.run({integer(0), x, short_y})[0]), ElementsAre(1));
  EXPECT_THAT(std::string(graph.status_of({integer(1), x, short_y}).message()),
              HasSubstr("begins at -1"));
}

TEST(Loop, NegativeTripCountIsAnError) {
  Graph graph(kSum);
  Status status = graph.status_of({integer(-1), floats({1, 2})});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("element 0 is -1, below 0"));
  EXPECT_THAT(elements(graph.run({integer(1), floats({1, 2})})[0]), ElementsAre(2, 4));
}

TEST(Loop, HugeTripCountIsAnError) {
  Graph graph(kSum);
  Status status = graph.status_of({integer(int64_t{1} << 62), floats({1, 2})});
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(elements(graph.run({integer(1), floats({1, 2})})[0]), ElementsAre(2, 4));
}

// Each iteration computes a, b := b, a + b.
TEST(Loop, CarriedValuesAreSwapped) {
  Graph graph(R"(
    func.func @main(%count: !sv.tensor<i64[]>, %x: !sv.tensor<f32[n]>, %y: !sv.tensor<f32[n]>)
        -> (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) {
      sv.read_dims %count {symbols = ["$count"]} : !sv.tensor<i64[]>
      %0:2 = sv.loop %x, %y {index = "$i", trip_count = #sv.dims<["$count"]>}
          : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) {
      ^bb0(%a: !sv.tensor<f32[n]>, %b: !sv.tensor<f32[n]>):
        %1 = sv.add %a, %b : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
        sv.yield %b, %1 : !sv.tensor<f32[n]>, !sv.tensor<f32[n]>
      }
      return %0#0, %0#1 : !sv.tensor<f32[n]>, !sv.tensor<f32[n]>
    })");
  std::vector<Tensor> results = graph.run({integer(9), floats({0, 1}), floats({1, 1})});
  EXPECT_THAT(elements(results[0]), ElementsAre(34, 55));
  EXPECT_THAT(elements(results[1]), ElementsAre(55, 89));
}

// The matmul reads all of %s while it writes the next value of %s. The loop therefore needs two
// buffers, which it swaps after each iteration.
TEST(Loop, NextCarriedValueHasASecondBuffer) {
  Graph graph(R"(
    func.func @main(%count: !sv.tensor<i64[]>, %x: !sv.tensor<f32[2, 2]>, %m: !sv.tensor<f32[2, 2]>)
        -> !sv.tensor<f32[2, 2]> {
      sv.read_dims %count {symbols = ["$count"]} : !sv.tensor<i64[]>
      %0 = sv.loop %x {index = "$i", trip_count = #sv.dims<["$count"]>}
          : (!sv.tensor<f32[2, 2]>) -> !sv.tensor<f32[2, 2]> {
      ^bb0(%s: !sv.tensor<f32[2, 2]>):
        %1 = sv.matmul %s, %m
            : (!sv.tensor<f32[2, 2]>, !sv.tensor<f32[2, 2]>) -> !sv.tensor<f32[2, 2]>
        sv.yield %1 : !sv.tensor<f32[2, 2]>
      }
      return %0 : !sv.tensor<f32[2, 2]>
    })");
  Tensor one = floats({2, 2}, {1, 0, 0, 1}), step = floats({2, 2}, {1, 1, 1, 0});
  for (int64_t count : {0, 1, 2, 7, 10}) {
    float a = 1, b = 0, c = 1;  // Fibonacci: step^count is [[c, b], [b, a]]
    for (int64_t i = 0; i < count; ++i) {
      float next = c + b;
      a = b, b = c, c = next;
    }
    EXPECT_THAT(elements(graph.run({integer(count), one, step})[0]), ElementsAre(c, b, b, a));
  }
}

// The condition of the yield is the current flag %f, its view %g, or the next flag %n. The loop
// must read the condition before it replaces %f by %n.
TEST(Loop, ConditionIsReadBeforeCarriedValuesChange) {
  const std::string view =
      "%g = sv.reshape %f {dims = #sv.dims<[]>} : (!sv.tensor<bool[]>) -> "
      "!sv.tensor<bool[]>\n";
  for (const auto& [condition, expected] :
       {std::pair("%f", 5.0f), std::pair("%g", 5.0f), std::pair("%n", 4.0f)}) {
    for (const char* next : {"%n, %d, %e", "%n, %d, %d"}) {
      Graph graph(R"(
        func.func @main(%flag: !sv.tensor<bool[]>, %limit: !sv.tensor<f32[]>)
            -> !sv.tensor<f32[]> {
          %zero = sv.constant {value = dense<0.0> : tensor<f32>} : !sv.tensor<f32[]>
          %one = sv.constant {value = dense<1.0> : tensor<f32>} : !sv.tensor<f32[]>
          %0:3 = sv.loop %flag, %zero, %zero
              {has_condition = true, index = "$i", trip_count = #sv.dims<[]>}
              : (!sv.tensor<bool[]>, !sv.tensor<f32[]>, !sv.tensor<f32[]>)
              -> (!sv.tensor<bool[]>, !sv.tensor<f32[]>, !sv.tensor<f32[]>) {
          ^bb0(%f: !sv.tensor<bool[]>, %c: !sv.tensor<f32[]>, %e: !sv.tensor<f32[]>):
            )" + view +
                  R"(
            %n = sv.less %c, %limit : (!sv.tensor<f32[]>, !sv.tensor<f32[]>) -> !sv.tensor<bool[]>
            %d = sv.add %c, %one : (!sv.tensor<f32[]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[]>
            sv.yield )" +
                  condition + ", " + next + R"(
                : !sv.tensor<bool[]>, !sv.tensor<bool[]>, !sv.tensor<f32[]>, !sv.tensor<f32[]>
          }
          return %0#1 : !sv.tensor<f32[]>
        })");
      EXPECT_THAT(elements(graph.run({boolean(true), floats({}, {3})})[0]), ElementsAre(expected))
          << condition << ", " << next;
    }
  }
}

// Appends x to s until the sum of s reaches the limit, and gathers the sums.
const char kGrow[] = R"(
    func.func @main(%x: !sv.tensor<f32[n]>, %limit: !sv.tensor<f32[]>)
        -> (!sv.tensor<f32["$m"]>, !sv.tensor<f32["$count"]>) {
      %0:2 = sv.loop %x {carried_symbols = ["$s"], has_condition = true, index = "$i",
                         symbols = ["$m", "$count"], trip_count = #sv.dims<[]>}
          : (!sv.tensor<f32[n]>) -> (!sv.tensor<f32["$m"]>, !sv.tensor<f32["$count"]>) {
      ^bb0(%s: !sv.tensor<f32["$s"]>):
        %1 = sv.concat %s, %x {axis = 0 : i64}
            : (!sv.tensor<f32["$s"]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32["$s+n"]>
        %2 = sv.reduce_sum %1 {axes = array<i64: 0>, keep_dims = false}
            : (!sv.tensor<f32["$s+n"]>) -> !sv.tensor<f32[]>
        %3 = sv.less %2, %limit : (!sv.tensor<f32[]>, !sv.tensor<f32[]>) -> !sv.tensor<bool[]>
        sv.yield %3, %1, %2 : !sv.tensor<bool[]>, !sv.tensor<f32["$s+n"]>, !sv.tensor<f32[]>
      }
      return %0#0, %0#1 : !sv.tensor<f32["$m"]>, !sv.tensor<f32["$count"]>
    })";

TEST(Loop, CarriedAndGatheredValuesGrow) {
  Graph graph(kGrow);
  std::vector<Tensor> results = graph.run({floats({1, 2}), floats({}, {10})});
  EXPECT_THAT(elements(results[0]), ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
  EXPECT_THAT(elements(results[1]), ElementsAre(6, 9, 12));
  results = graph.run({floats({1}), floats({}, {100})});
  EXPECT_EQ(results[0].element_count(), 100);
  EXPECT_EQ(results[1].element_count(), 99);
  EXPECT_EQ(elements(results[1]).back(), 100);
}

TEST(Loop, EndlessLoopEndsAtItsDeadline) {
  Graph graph(kGrow);
  CallOptions options;
  options.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  Status status = graph.status_of({floats({0}), floats({}, {1})}, options);
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(graph.run({floats({1, 2}), floats({}, {10})})[1].element_count(), 3);
}

// The innermost of four loops adds x times a number whose digits are the four loop indices.
TEST(Loop, NestedFourDeepReadsOuterValues) {
  std::string text = "%x";
  std::string body;
  for (int depth = 0; depth < 4; ++depth) {
    std::string d = std::to_string(depth);
    body += "%l" + d + " = sv.loop " + text + " {index = \"$i" + d +
            "\", trip_count = #sv.dims<[n]>} : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {\n"
            "^bb0(%a" +
            d + ": !sv.tensor<f32[n]>):\n";
    text = "%a" + d;
  }
  body += R"(%d = sv.dims_tensor {dims = #sv.dims<["1000*$i0+100*$i1+10*$i2+$i3"]>, scalar = true}
                 : () -> !sv.tensor<i64[]>
             %f = sv.cast %d {to = "f32"} : (!sv.tensor<i64[]>) -> !sv.tensor<f32[]>
             %g = sv.mul %f, %x : (!sv.tensor<f32[]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
             %s = sv.add %a3, %g : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
             sv.yield %s : !sv.tensor<f32[n]>
)";
  for (int depth = 3; depth >= 0; --depth) {
    std::string d = std::to_string(depth);
    body += "}\n" + (depth > 0 ? "sv.yield %l" + d : "return %l" + d) + " : !sv.tensor<f32[n]>\n";
  }
  Graph graph("func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {\n" + body + "}");
  float sum = 0;
  for (int i = 0; i < 3; ++i) sum += 27 * 1111 * static_cast<float>(i);
  EXPECT_THAT(elements(graph.run({floats({0, 1, 2})})[0]), ElementsAre(0, 1 + sum, 2 + 2 * sum));
}

TEST(Loop, BodyContainsAnIf) {
  Graph graph(R"(
    func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
      %zero = sv.constant {value = dense<0.0> : tensor<f32>} : !sv.tensor<f32[]>
      %0 = sv.loop %x {index = "$i", trip_count = #sv.dims<[4]>}
          : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
      ^bb0(%s: !sv.tensor<f32[n]>):
        %sum = sv.reduce_sum %s {axes = array<i64: 0>, keep_dims = false}
            : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[]>
        %c = sv.less %sum, %zero : (!sv.tensor<f32[]>, !sv.tensor<f32[]>) -> !sv.tensor<bool[]>
        %1 = sv.if %c : (!sv.tensor<bool[]>) -> !sv.tensor<f32[n]> {
          %2 = sv.neg %s : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
          sv.yield %2 : !sv.tensor<f32[n]>
        } else {
          %2 = sv.sub %s, %sum : (!sv.tensor<f32[n]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n]>
          sv.yield %2 : !sv.tensor<f32[n]>
        }
        sv.yield %1 : !sv.tensor<f32[n]>
      }
      return %0 : !sv.tensor<f32[n]>
    })");
  std::vector<float> expected = {1, 2};
  for (int i = 0; i < 4; ++i) {
    float sum = expected[0] + expected[1];
    for (float& e : expected) e = sum < 0 ? -e : e - sum;
  }
  EXPECT_EQ(elements(graph.run({floats({1, 2})})[0]), expected);
}

TEST(ReadDims, SizesDependOnData) {
  Graph graph(R"(
    func.func @main(%size: !sv.tensor<i64[2]>, %x: !sv.tensor<f32[]>)
        -> !sv.tensor<f32["$a", "$b"]> {
      sv.read_dims %size {symbols = ["$a", "$b"]} : !sv.tensor<i64[2]>
      %0 = sv.expand %x {dims = #sv.dims<["$a", "$b"]>}
          : (!sv.tensor<f32[]>) -> !sv.tensor<f32["$a", "$b"]>
      %1 = sv.neg %0 : (!sv.tensor<f32["$a", "$b"]>) -> !sv.tensor<f32["$a", "$b"]>
      return %1 : !sv.tensor<f32["$a", "$b"]>
    })");
  auto sizes = [](int64_t a, int64_t b) {
    Tensor tensor = *Tensor::allocate(DType::kI64, {2});
    static_cast<int64_t*>(tensor.data())[0] = a;
    static_cast<int64_t*>(tensor.data())[1] = b;
    return tensor;
  };
  EXPECT_THAT(dims(graph.run({sizes(2, 3), floats({}, {1})})[0]), ElementsAre(2, 3));
  EXPECT_THAT(elements(graph.run({sizes(1, 2), floats({}, {1})})[0]), ElementsAre(-1, -1));
  EXPECT_THAT(elements(graph.run({sizes(0, 2), floats({}, {1})})[0]), IsEmpty());
  EXPECT_EQ(graph.status_of({sizes(-1, 2), floats({}, {1})}).code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(graph.status_of({sizes(int64_t{1} << 40, int64_t{1} << 40), floats({}, {1})}).ok());
  EXPECT_THAT(dims(graph.run({sizes(5, 1), floats({}, {1})})[0]), ElementsAre(5, 1));
}

TEST(Assert, FailsTheCallWithItsMessage) {
  Graph graph(R"(
    func.func @main(%c: !sv.tensor<bool[]>, %x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
      sv.assert %c {message = "the switch must be on"} : !sv.tensor<bool[]>
      %0 = sv.neg %x : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
      return %0 : !sv.tensor<f32[n]>
    })");
  Status status = graph.status_of({boolean(false), floats({1})});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the switch must be on"));
  EXPECT_THAT(elements(graph.run({boolean(true), floats({1})})[0]), ElementsAre(-1));
}

TEST(Symbols, AreVisibleOnlyAfterTheirDefinition) {
  auto error_of = [](const std::string& text) {
    return std::string(Graph::compile_error(text).message());
  };
  EXPECT_THAT(error_of(R"(
    func.func @main(%size: !sv.tensor<i64[1]>, %x: !sv.tensor<f32[]>) -> !sv.tensor<f32["$a"]> {
      %0 = sv.expand %x {dims = #sv.dims<["$a"]>} : (!sv.tensor<f32[]>) -> !sv.tensor<f32["$a"]>
      sv.read_dims %size {symbols = ["$a"]} : !sv.tensor<i64[1]>
      return %0 : !sv.tensor<f32["$a"]>
    })"),
              HasSubstr("uses symbol $a before its definition"));
  EXPECT_THAT(error_of(R"(
    func.func @main(%size: !sv.tensor<i64[1]>, %x: !sv.tensor<f32[]>) -> !sv.tensor<f32["$a"]> {
      sv.read_dims %size {symbols = ["$a"]} : !sv.tensor<i64[1]>
      sv.read_dims %size {symbols = ["$a"]} : !sv.tensor<i64[1]>
      %0 = sv.expand %x {dims = #sv.dims<["$a"]>} : (!sv.tensor<f32[]>) -> !sv.tensor<f32["$a"]>
      return %0 : !sv.tensor<f32["$a"]>
    })"),
              HasSubstr("is defined twice"));
  // A symbol that the loop's body defines is not visible in the loop's result type.
  EXPECT_THAT(error_of(R"(
    func.func @main(%sizes: !sv.tensor<i64[2]>, %x: !sv.tensor<f32[]>) -> !sv.tensor<f32[2, "$a"]> {
      %0 = sv.loop {index = "$i", trip_count = #sv.dims<[2]>} : () -> !sv.tensor<f32[2, "$a"]> {
        %1 = sv.slice %sizes {sizes = #sv.dims<[1]>, starts = #sv.dims<["$i"]>, steps = array<i64: 1>} : (!sv.tensor<i64[2]>) -> !sv.tensor<i64[1]>
        sv.read_dims %1 {symbols = ["$a"]} : !sv.tensor<i64[1]>
        %2 = sv.expand %x {dims = #sv.dims<["$a"]>} : (!sv.tensor<f32[]>) -> !sv.tensor<f32["$a"]>
        sv.yield %2 : !sv.tensor<f32["$a"]>
      }
      return %0 : !sv.tensor<f32[2, "$a"]>
    })"),
              HasSubstr("uses symbol $a before its definition"));
}

}  // namespace
}  // namespace scopevm
