// Functions that call themselves and each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/control_flow/call_graph.h"

namespace scopevm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Recursion, Factorial) {
  Graph graph(module_of(R"(
    func.func private @factorial(%n: !i) -> !i {
      %one = sv.constant {value = dense<1> : tensor<i64>} : !i
      %c = sv.less_equal %n, %one : (!i, !i) -> !b
      %0 = sv.if %c : (!b) -> !i {
        sv.yield %one : !i
      } else {
        %1 = sv.sub %n, %one : (!i, !i) -> !i
        %2 = sv.call @factorial(%1) : (!i) -> !i
        %3 = sv.mul %n, %2 : (!i, !i) -> !i
        sv.yield %3 : !i
      }
      return %0 : !i
    }
    func.func @main(%n: !i) -> !i {
      %0 = sv.call @factorial(%n) : (!i) -> !i
      return %0 : !i
    })"));
  EXPECT_THAT(integers_of(graph.run({integer(10)})[0]), ElementsAre(3628800));
  expect_within_bounds(graph.stats());
  EXPECT_THAT(integers_of(graph.run({integer(0)})[0]), ElementsAre(1));
}

TEST(Recursion, Fibonacci) {
  Graph graph(module_of(R"(
    func.func private @fibonacci(%n: !i) -> !i {
      %one = sv.constant {value = dense<1> : tensor<i64>} : !i
      %c = sv.less_equal %n, %one : (!i, !i) -> !b
      %0 = sv.if %c : (!b) -> !i {
        sv.yield %n : !i
      } else {
        %1 = sv.sub %n, %one : (!i, !i) -> !i
        %2 = sv.call @fibonacci(%1) : (!i) -> !i
        %3 = sv.sub %1, %one : (!i, !i) -> !i
        %4 = sv.call @fibonacci(%3) : (!i) -> !i
        %5 = sv.add %2, %4 : (!i, !i) -> !i
        sv.yield %5 : !i
      }
      return %0 : !i
    }
    func.func @main(%n: !i) -> !i {
      %0 = sv.call @fibonacci(%n) : (!i) -> !i
      return %0 : !i
    })"));
  EXPECT_THAT(integers_of(graph.run({integer(20)})[0]), ElementsAre(6765));
  expect_within_bounds(graph.stats());
}

const char kEvenAndOdd[] = R"(
    func.func private @is_even(%n: !i) -> !b {
      %zero = sv.constant {value = dense<0> : tensor<i64>} : !i
      %one = sv.constant {value = dense<1> : tensor<i64>} : !i
      %c = sv.equal %n, %zero : (!i, !i) -> !b
      %0 = sv.if %c : (!b) -> !b {
        sv.yield %c : !b
      } else {
        %1 = sv.sub %n, %one : (!i, !i) -> !i
        %2 = sv.call @is_odd(%1) : (!i) -> !b
        sv.yield %2 : !b
      }
      return %0 : !b
    }
    func.func private @is_odd(%n: !i) -> !b {
      %zero = sv.constant {value = dense<0> : tensor<i64>} : !i
      %one = sv.constant {value = dense<1> : tensor<i64>} : !i
      %c = sv.equal %n, %zero : (!i, !i) -> !b
      %0 = sv.if %c : (!b) -> !b {
        %1 = sv.not %c : (!b) -> !b
        sv.yield %1 : !b
      } else {
        %1 = sv.sub %n, %one : (!i, !i) -> !i
        %2 = sv.call @is_even(%1) : (!i) -> !b
        sv.yield %2 : !b
      }
      return %0 : !b
    }
    func.func @main(%n: !i) -> !b {
      %0 = sv.call @is_even(%n) : (!i) -> !b
      return %0 : !b
    })";

TEST(Recursion, FunctionsThatCallEachOther) {
  Graph graph(module_of(kEvenAndOdd));
  for (int64_t n : {0, 1, 7, 10, 1000}) {
    std::vector<Tensor> results = graph.run({integer(n)});
    EXPECT_EQ(*static_cast<const uint8_t*>(results[0].data()), n % 2 == 0) << n;
    expect_within_bounds(graph.stats());
  }
}

TEST(Recursion, TooDeepRecursionFailsOnlyThisCall) {
  Graph graph(module_of(kEvenAndOdd));
  Status status = graph.status_of({integer(-1)});
  EXPECT_EQ(status.code(), StatusCode::kResourceLimit);
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("main > is_even > is_odd > is_even > ... (1018 more) > is_odd > is_even: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("more than 1024 nested calls"));
  EXPECT_EQ(*static_cast<const uint8_t*>(graph.run({integer(4)})[0].data()), 1);
}

// @sum splits a tensor into halves and calls itself on each half, so each level has other shapes.
const char kTreeSum[] = R"mlir(
    !low = !sv.tensor<f32["floordiv(n, 2)"]>
    !high = !sv.tensor<f32["ceildiv(n, 2)"]>
    func.func private @sum(%x: !n) -> !f {
      %length = sv.dims_tensor {dims = #sv.dims<[n]>, scalar = true} : () -> !i
      %one = sv.constant {value = dense<1> : tensor<i64>} : !i
      %c = sv.equal %length, %one : (!i, !i) -> !b
      %0 = sv.if %c : (!b) -> !f {
        %1 = sv.reshape %x {dims = #sv.dims<[]>} : (!n) -> !f
        sv.yield %1 : !f
      } else {
        %1 = sv.slice %x {starts = #sv.dims<[0]>, sizes = #sv.dims<["floordiv(n, 2)"]>,
                          steps = array<i64: 1>} : (!n) -> !low
        %2 = sv.slice %x {starts = #sv.dims<["floordiv(n, 2)"]>,
                          sizes = #sv.dims<["ceildiv(n, 2)"]>,
                          steps = array<i64: 1>} : (!n) -> !high
        %3 = sv.call @sum(%1) : (!low) -> !f
        %4 = sv.call @sum(%2) : (!high) -> !f
        %5 = sv.add %3, %4 : (!f, !f) -> !f
        sv.yield %5 : !f
      }
      return %0 : !f
    }
    func.func @main(%x: !n) -> !f {
      %0 = sv.call @sum(%x) : (!n) -> !f
      return %0 : !f
    })mlir";

TEST(Recursion, ArgumentShapesChangeWithEachLevel) {
  Graph graph(module_of(kTreeSum));
  for (int64_t n : {1, 2, 3, 13, 100}) {
    std::vector<float> x(static_cast<size_t>(n));
    std::iota(x.begin(), x.end(), 1.0F);
    EXPECT_THAT(elements(graph.run({floats(x)})[0]),
                ElementsAre(static_cast<float>(n * (n + 1) / 2)));
    expect_within_bounds(graph.stats());
  }
}

}  // namespace
}  // namespace scopevm
