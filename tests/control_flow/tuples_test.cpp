// Tuples in MLIR assembly: through branches, loops, calls and closures. A module compiled from a
// graph with tuples is byte for byte that of the same graph without tuples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control_flow/run_graph.h"
#include "tests/temporary_file.h"

namespace scopevm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const char kTypes[] = R"(
    !b = !sv.tensor<bool[]>
    !s = !sv.tensor<f32[]>
    !x = !sv.tensor<f32[n]>
    !list = !sv.list<sequence f32[?]>
    !pair = tuple<!x, !s>
    !state = tuple<!s, tuple<>, !pair>
)";

std::string text_of(const std::string& functions) { return kTypes + functions; }

Result<CompileOutput> compiled(const std::string& functions) {
  const TemporaryFile file(text_of(functions));
  CompileOptions options;
  options.model_path = file.path();
  options.machine_json =
      R"({"devices": [{"name": "cpu", "kind": "cpu"}, {"name": "npu", "kind": "cpu"}]})";
  return compile(options);
}

void expect_equal_modules(const std::string& with_tuples, const std::string& without) {
  const Result<CompileOutput> one = compiled(with_tuples), other = compiled(without);
  ASSERT_TRUE(one.ok()) << one.status().message();
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_TRUE(one->module == other->module);
}

void expect_error(const std::string& functions, const std::string& message) {
  EXPECT_THAT(std::string(Graph::compile_error(text_of(functions)).message()), HasSubstr(message));
}

TEST(Tuple, OfMainIsSeveralArgumentsAndResults) {
  const std::string functions = R"(
    func.func @main(%t: !state {sv.name = "state"}, %e: tuple<>, %y: !x)
        -> (!pair {sv.name = "next"}, tuple<!s>) {
      %0 = sv.tuple_get %t[2] : !state
      %1 = sv.tuple_get %0[0] : !pair
      %2 = sv.tuple_get %t[0] : !state
      %3 = sv.add %1, %y : (!x, !x) -> !x
      %4 = sv.tuple %3, %2 : !pair
      %5 = sv.tuple_get %0[1] : !pair
      %6 = sv.tuple %5 : tuple<!s>
      return %4, %6 : !pair, tuple<!s>
    })";
  expect_equal_modules(functions, R"(
    func.func @main(%a: !s {sv.name = "state.0"}, %b: !x {sv.name = "state.2.0"},
                    %c: !s {sv.name = "state.2.1"}, %y: !x)
        -> (!x {sv.name = "next.0"}, !s {sv.name = "next.1"}, !s) {
      %0 = sv.add %b, %y : (!x, !x) -> !x
      return %0, %a, %c : !x, !s, !s
    })");
  Graph graph(text_of(functions));
  const std::vector<Tensor> results =
      graph.run({floats({}, {1}), floats({2, 3}), floats({}, {4}), floats({10, 20})});
  EXPECT_THAT(elements(results[0]), ElementsAre(12, 23));
  EXPECT_THAT(elements(results[1]), ElementsAre(1));
  EXPECT_THAT(elements(results[2]), ElementsAre(4));
}

TEST(Tuple, OfBranches) {
  const std::string functions = R"(
    func.func @main(%c: !b, %x: !x, %s: !s) -> (!x, !s, !sv.tensor<f32["$m"]>) {
      %t = sv.tuple %x, %s : !pair
      %0:2 = sv.if %c {symbols = ["$m"]} : (!b) -> (!pair, tuple<!sv.tensor<f32["$m"]>>) {
        %1 = sv.neg %x : (!x) -> !x
        %2 = sv.tuple %1, %s : !pair
        %3 = sv.tuple %x : tuple<!x>
        sv.yield %2, %3 : !pair, tuple<!x>
      } else {
        %1 = sv.concat %x, %x {axis = 0 : i64} : (!x, !x) -> !sv.tensor<f32["2*n"]>
        %2 = sv.tuple %1 : tuple<!sv.tensor<f32["2*n"]>>
        sv.yield %t, %2 : !pair, tuple<!sv.tensor<f32["2*n"]>>
      }
      %4 = sv.tuple_get %0#0[0] : !pair
      %5 = sv.tuple_get %0#0[1] : !pair
      %6 = sv.tuple_get %0#1[0] : tuple<!sv.tensor<f32["$m"]>>
      return %4, %5, %6 : !x, !s, !sv.tensor<f32["$m"]>
    })";
  expect_equal_modules(functions, R"(
    func.func @main(%c: !b, %x: !x, %s: !s) -> (!x, !s, !sv.tensor<f32["$m"]>) {
      %0:3 = sv.if %c {symbols = ["$m"]} : (!b) -> (!x, !s, !sv.tensor<f32["$m"]>) {
        %1 = sv.neg %x : (!x) -> !x
        sv.yield %1, %s, %x : !x, !s, !x
      } else {
        %1 = sv.concat %x, %x {axis = 0 : i64} : (!x, !x) -> !sv.tensor<f32["2*n"]>
        sv.yield %x, %s, %1 : !x, !s, !sv.tensor<f32["2*n"]>
      }
      return %0#0, %0#1, %0#2 : !x, !s, !sv.tensor<f32["$m"]>
    })");
  Graph graph(text_of(functions));
  const Tensor x = floats({1, 2}), s = floats({}, {3});
  EXPECT_THAT(elements(graph.run({boolean(true), x, s})[0]), ElementsAre(-1, -2));
  EXPECT_THAT(elements(graph.run({boolean(false), x, s})[2]), ElementsAre(1, 2, 1, 2));
}

TEST(Tuple, CarriedAndGatheredByALoop) {
  const std::string functions = R"(
    func.func @main(%x: !x, %s: !s) -> (!x, !s, tuple<!sv.tensor<f32[3, n]>, !sv.tensor<f32[3]>>) {
      %t = sv.tuple %x, %s : !pair
      %0:2 = sv.loop %t {index = "$i", trip_count = #sv.dims<[3]>}
          : (!pair) -> (!pair, tuple<!sv.tensor<f32[3, n]>, !sv.tensor<f32[3]>>) {
      ^bb0(%u: !pair):
        %1 = sv.tuple_get %u[0] : !pair
        %2 = sv.tuple_get %u[1] : !pair
        %3 = sv.add %1, %2 : (!x, !s) -> !x
        %4 = sv.add %2, %2 : (!s, !s) -> !s
        %5 = sv.tuple %3, %4 : !pair
        sv.yield %5, %5 : !pair, !pair
      }
      %6 = sv.tuple_get %0#0[0] : !pair
      %7 = sv.tuple_get %0#0[1] : !pair
      return %6, %7, %0#1 : !x, !s, tuple<!sv.tensor<f32[3, n]>, !sv.tensor<f32[3]>>
    })";
  expect_equal_modules(functions, R"(
    func.func @main(%x: !x, %s: !s) -> (!x, !s, !sv.tensor<f32[3, n]>, !sv.tensor<f32[3]>) {
      %0:4 = sv.loop %x, %s {index = "$i", trip_count = #sv.dims<[3]>}
          : (!x, !s) -> (!x, !s, !sv.tensor<f32[3, n]>, !sv.tensor<f32[3]>) {
      ^bb0(%1: !x, %2: !s):
        %3 = sv.add %1, %2 : (!x, !s) -> !x
        %4 = sv.add %2, %2 : (!s, !s) -> !s
        sv.yield %3, %4, %3, %4 : !x, !s, !x, !s
      }
      return %0#0, %0#1, %0#2, %0#3 : !x, !s, !sv.tensor<f32[3, n]>, !sv.tensor<f32[3]>
    })");
  Graph graph(text_of(functions));
  const std::vector<Tensor> results = graph.run({floats({1, 2}), floats({}, {1})});
  EXPECT_THAT(elements(results[0]), ElementsAre(8, 9));
  EXPECT_THAT(elements(results[1]), ElementsAre(8));
  EXPECT_THAT(elements(results[2]), ElementsAre(2, 3, 4, 5, 8, 9));
  EXPECT_THAT(elements(results[3]), ElementsAre(2, 4, 8));
}

// The elements of a tuple change their sizes between iterations.
TEST(Tuple, GrowsInALoop) {
  Graph graph(text_of(R"(
    !grown = tuple<!sv.tensor<f32["$m"]>>
    func.func @main(%x: !x) -> !sv.tensor<f32["$r"]> {
      %t = sv.tuple %x : tuple<!x>
      %0 = sv.loop %t {index = "$i", trip_count = #sv.dims<[2]>, carried_symbols = ["$m"],
                       symbols = ["$r"]} : (tuple<!x>) -> tuple<!sv.tensor<f32["$r"]>> {
      ^bb0(%u: !grown):
        %1 = sv.tuple_get %u[0] : !grown
        %2 = sv.concat %1, %1 {axis = 0 : i64}
            : (!sv.tensor<f32["$m"]>, !sv.tensor<f32["$m"]>) -> !sv.tensor<f32["2*$m"]>
        %3 = sv.tuple %2 : tuple<!sv.tensor<f32["2*$m"]>>
        sv.yield %3 : tuple<!sv.tensor<f32["2*$m"]>>
      }
      %4 = sv.tuple_get %0[0] : tuple<!sv.tensor<f32["$r"]>>
      return %4 : !sv.tensor<f32["$r"]>
    })"));
  EXPECT_THAT(elements(graph.run({floats({5})})[0]), ElementsAre(5, 5, 5, 5));
}

// The recursion has a tuple of tuples in its signature, and returns a dim that depends on data.
TEST(Tuple, OfARecursiveFunction) {
  const std::string functions = R"(
    !long = tuple<!sv.tensor<f32["$m"]>, !s>
    func.func private @repeat(%t: !pair) -> !long {
      %x = sv.tuple_get %t[0] : !pair
      %s = sv.tuple_get %t[1] : !pair
      %zero = sv.constant {value = dense<0.0> : tensor<f32>} : !s
      %one = sv.constant {value = dense<1.0> : tensor<f32>} : !s
      %c = sv.greater %s, %zero : (!s, !s) -> !b
      %0 = sv.if %c {symbols = ["$m"]} : (!b) -> !long {
        %1 = sv.concat %x, %x {axis = 0 : i64} : (!x, !x) -> !sv.tensor<f32["2*n"]>
        %2 = sv.sub %s, %one : (!s, !s) -> !s
        %3 = sv.tuple %1, %2 : tuple<!sv.tensor<f32["2*n"]>, !s>
        %4 = sv.call @repeat(%3) {symbols = ["$k"]}
            : (tuple<!sv.tensor<f32["2*n"]>, !s>) -> tuple<!sv.tensor<f32["$k"]>, !s>
        sv.yield %4 : tuple<!sv.tensor<f32["$k"]>, !s>
      } else {
        sv.yield %t : !pair
      }
      return %0 : !long
    }
    func.func @main(%t: !pair) -> !long {
      %0 = sv.call @repeat(%t) {symbols = ["$m"]} : (!pair) -> !long
      return %0 : !long
    })";
  Graph graph(text_of(functions));
  EXPECT_THAT(elements(graph.run({floats({7}), floats({}, {2})})[0]), ElementsAre(7, 7, 7, 7));
}

TEST(Tuple, OfClosures) {
  const std::string functions = R"(
    !unary = !sv.closure<(tuple<!sv.tensor<f32[m]>>) -> tuple<!sv.tensor<f32[m]>>>
    func.func private @shift(%by: tuple<!s, tuple<!s>>, %t: tuple<!x>) -> tuple<!x> {
      %0 = sv.tuple_get %by[1] : tuple<!s, tuple<!s>>
      %1 = sv.tuple_get %0[0] : tuple<!s>
      %x = sv.tuple_get %t[0] : tuple<!x>
      %2 = sv.add %x, %1 : (!x, !s) -> !x
      %3 = sv.tuple %2 : tuple<!x>
      return %3 : tuple<!x>
    }
    func.func private @negate(%t: tuple<!x>) -> tuple<!x> {
      %x = sv.tuple_get %t[0] : tuple<!x>
      %0 = sv.neg %x : (!x) -> !x
      %1 = sv.tuple %0 : tuple<!x>
      return %1 : tuple<!x>
    }
    func.func private @apply(%f: tuple<!unary, !unary>, %x: !x) -> tuple<!x> {
      %first = sv.tuple_get %f[0] : tuple<!unary, !unary>
      %second = sv.tuple_get %f[1] : tuple<!unary, !unary>
      %t = sv.tuple %x : tuple<!x>
      %0 = sv.call_closure %first(%t) : (!unary, tuple<!x>) -> tuple<!x>
      %1 = sv.call_closure %second(%0) : (!unary, tuple<!x>) -> tuple<!x>
      return %1 : tuple<!x>
    }
    func.func @main(%c: !b, %s: !s, %x: !x) -> tuple<!x> {
      %0 = sv.tuple %s : tuple<!s>
      %1 = sv.tuple %s, %0 : tuple<!s, tuple<!s>>
      %f = sv.closure @shift(%1) : (tuple<!s, tuple<!s>>) -> !unary
      %g = sv.closure @negate() : () -> !unary
      %2 = sv.if %c : (!b) -> tuple<!unary, !unary> {
        %3 = sv.tuple %f, %g : tuple<!unary, !unary>
        sv.yield %3 : tuple<!unary, !unary>
      } else {
        %3 = sv.tuple %g, %f : tuple<!unary, !unary>
        sv.yield %3 : tuple<!unary, !unary>
      }
      %4 = sv.call @apply(%2, %x) : (tuple<!unary, !unary>, !x) -> tuple<!x>
      return %4 : tuple<!x>
    })";
  expect_equal_modules(functions, R"(
    !unary = !sv.closure<(!sv.tensor<f32[m]>) -> !sv.tensor<f32[m]>>
    func.func private @shift(%a: !s, %b: !s, %x: !x) -> !x {
      %0 = sv.add %x, %b : (!x, !s) -> !x
      return %0 : !x
    }
    func.func private @negate(%x: !x) -> !x {
      %0 = sv.neg %x : (!x) -> !x
      return %0 : !x
    }
    func.func private @apply(%first: !unary, %second: !unary, %x: !x) -> !x {
      %0 = sv.call_closure %first(%x) : (!unary, !x) -> !x
      %1 = sv.call_closure %second(%0) : (!unary, !x) -> !x
      return %1 : !x
    }
    func.func @main(%c: !b, %s: !s, %x: !x) -> !x {
      %f = sv.closure @shift(%s, %s) : (!s, !s) -> !unary
      %g = sv.closure @negate() : () -> !unary
      %0:2 = sv.if %c : (!b) -> (!unary, !unary) {
        sv.yield %f, %g : !unary, !unary
      } else {
        sv.yield %g, %f : !unary, !unary
      }
      %1 = sv.call @apply(%0#0, %0#1, %x) : (!unary, !unary, !x) -> !x
      return %1 : !x
    })");
  Graph graph(text_of(functions));
  const Tensor s = floats({}, {10}), x = floats({1, 2});
  EXPECT_THAT(elements(graph.run({boolean(true), s, x})[0]), ElementsAre(-11, -12));
  EXPECT_THAT(elements(graph.run({boolean(false), s, x})[0]), ElementsAre(9, 8));
}

TEST(Tuple, OfLists) {
  const std::string functions = R"(
    func.func @main(%t: tuple<!list, !x>) -> tuple<!list> {
      %l = sv.tuple_get %t[0] : tuple<!list, !x>
      %x = sv.tuple_get %t[1] : tuple<!list, !x>
      %0 = sv.loop %l {index = "$i", trip_count = #sv.dims<[2]>} : (!list) -> !list {
      ^bb0(%m: !list):
        %1 = sv.list_insert %m, %x {index = #sv.dims<[]>} : (!list, !x) -> !list
        sv.yield %1 : !list
      }
      %2 = sv.tuple %0 : tuple<!list>
      return %2 : tuple<!list>
    })";
  expect_equal_modules(functions, R"(
    func.func @main(%l: !list, %x: !x) -> !list {
      %0 = sv.loop %l {index = "$i", trip_count = #sv.dims<[2]>} : (!list) -> !list {
      ^bb0(%m: !list):
        %1 = sv.list_insert %m, %x {index = #sv.dims<[]>} : (!list, !x) -> !list
        sv.yield %1 : !list
      }
      return %0 : !list
    })");
}

// Each element of a tuple has a place of its own.
TEST(Tuple, ElementsArePlacedOneByOne) {
  expect_equal_modules(R"(
    !npu = !sv.tensor<f32[n], @npu>
    func.func private @f(%t: tuple<!npu, !x>) -> tuple<!x, !x> {
      %0 = sv.tuple_get %t[0] : tuple<!npu, !x>
      %1 = sv.tuple_get %t[1] : tuple<!npu, !x>
      %2 = sv.softmax %0 {axis = 0 : i64} : (!npu) -> !x
      %3 = sv.tuple %2, %1 : tuple<!x, !x>
      return %3 : tuple<!x, !x>
    }
    func.func @main(%x: !x) -> tuple<!x, !x> {
      %0 = sv.softmax %x {axis = 0 : i64} : (!x) -> !x
      %1 = sv.tuple %0, %x : tuple<!x, !x>
      %2 = sv.call @f(%1) : (tuple<!x, !x>) -> tuple<!x, !x>
      return %2 : tuple<!x, !x>
    })",
                       R"(
    !npu = !sv.tensor<f32[n], @npu>
    func.func private @f(%0: !npu, %1: !x) -> (!x, !x) {
      %2 = sv.softmax %0 {axis = 0 : i64} : (!npu) -> !x
      return %2, %1 : !x, !x
    }
    func.func @main(%x: !x) -> (!x, !x) {
      %0 = sv.softmax %x {axis = 0 : i64} : (!x) -> !x
      %1:2 = sv.call @f(%0, %x) : (!x, !x) -> (!x, !x)
      return %1#0, %1#1 : !x, !x
    })");
}

TEST(Tuple, ElementMustExist) {
  expect_error(
      "func.func @main(%t: !pair) -> !x {\n  %0 = sv.tuple_get %t[2] : !pair\n"
      "  return %0 : !x\n}",
      ":9:8: tuple_get: index 2 is out of range for a tuple of 2 elements");
  expect_error(
      "func.func @main(%t: !pair) -> !x {\n  %0 = sv.tuple_get %t[-1] : !pair\n"
      "  return %0 : !x\n}",
      "tuple_get: index -1 is out of range for a tuple of 2 elements");
  expect_error(
      "func.func @main(%x: !x) -> !x {\n  %0 = sv.tuple_get %x[0] : !x\n"
      "  return %0 : !x\n}",
      "'sv.tuple_get' invalid kind of type specified");
}

TEST(Tuple, TypesMustMatch) {
  expect_error(R"(
    func.func private @f(%t: tuple<!x, !x>) -> tuple<!x, !x> { return %t : tuple<!x, !x> }
    func.func @main(%x: !x, %y: !sv.tensor<f32[m]>) -> tuple<!x, !x> {
      %0 = sv.tuple %x, %y : tuple<!x, !sv.tensor<f32[m]>>
      %1 = sv.call @f(%0) : (tuple<!x, !sv.tensor<f32[m]>>) -> tuple<!x, !x>
      return %1 : tuple<!x, !x>
    })",
               "argument 0 is tuple (f32[n], f32[m]), but @f takes tuple (f32[n], f32[n])");
  // Equal without the tuples.
  expect_error(R"(
    func.func private @f(%t: tuple<tuple<!x>, !s>) -> !x {
      %0 = sv.tuple_get %t[0] : tuple<tuple<!x>, !s>
      %1 = sv.tuple_get %0[0] : tuple<!x>
      return %1 : !x
    }
    func.func @main(%t: tuple<!x, tuple<!s>>) -> !x {
      %0 = sv.call @f(%t) : (tuple<!x, tuple<!s>>) -> !x
      return %0 : !x
    })",
               "argument 0 is tuple (f32[n], tuple (f32[])), but @f takes tuple (tuple (f32[n]), "
               "f32[])");
  expect_error(R"(
    func.func @main(%c: !b, %t: !pair, %u: tuple<!x, !sv.tensor<f32[1]>>) -> !pair {
      %0 = sv.if %c : (!b) -> !pair {
        sv.yield %t : !pair
      } else {
        sv.yield %u : tuple<!x, !sv.tensor<f32[1]>>
      }
      return %0 : !pair
    })",
               "an element of a yielded value has type f32[1], expected f32[]");
  expect_error(R"(
    func.func @main(%x: !x) -> tuple<!sv.tensor<f32[4, n]>> {
      %0 = sv.loop {index = "$i", trip_count = #sv.dims<[3]>} : () -> tuple<!sv.tensor<f32[4, n]>> {
        %t = sv.tuple %x : tuple<!x>
        sv.yield %t : tuple<!x>
      }
      return %0 : tuple<!sv.tensor<f32[4, n]>>
    })",
               "gathers into f32[4, n], expected the trip count 3 as dim 0");
}

TEST(Tuple, ContainsOnlyValues) {
  expect_error("func.func @main(%x: !x, %t: tuple<i32>) -> !x { return %x : !x }",
               "@main takes or returns i32, expected !sv.tensor, !sv.list or !sv.closure");
  expect_error(
      "func.func @main(%x: !x) -> tuple<> {\n  %0 = sv.tuple : tuple<>\n"
      "  return %0 : tuple<>\n}",
      "@main has no results, expected at least 1");
  expect_error(
      "func.func @main(%x: !x, %t: tuple<!s, tuple<!sv.closure<(!x) -> !x>>>) -> !x {\n"
      "  return %x : !x\n}",
      "@main cannot take or return closures: the runtime API has none");
}

TEST(Tuple, OtherOpsTakeItsElements) {
  expect_error(
      "func.func @main(%t: tuple<!x>) -> !x {\n"
      "  %0 = sv.neg %t : (tuple<!x>) -> !x\n  return %0 : !x\n}",
      "'sv.neg' op operand #0 must be tensor, but got 'tuple<!sv.tensor<f32[n]>>'");
  expect_error(
      "func.func @main(%t: tuple<!x>) -> !list {\n"
      "  %0 = sv.list %t : (tuple<!x>) -> !list\n  return %0 : !list\n}",
      "'sv.list' op operand #0 must be variadic of tensor or list, but got 'tuple<");
  expect_error(R"(
    !unary = !sv.closure<(!x) -> !x>
    func.func private @f(%f: tuple<!unary>, %x: !x) -> !x { return %x : !x }
    func.func private @g(%x: !x) -> !x { return %x : !x }
    func.func @main(%x: !x) -> !x {
      %0 = sv.closure @g() : () -> !unary
      %1 = sv.tuple %0 : tuple<!unary>
      %2 = sv.closure @f(%1) : (tuple<!unary>) -> !unary
      return %x : !x
    })",
               "'sv.closure' op operand #0 must be variadic of tensor or tuple of tensors");
}

// Each type has two elements of the type before it: the last one has 2^50 tensors.
TEST(Tuple, HasALimitedSize) {
  std::string types = "!t0 = tuple<!x>\n";
  for (int i = 1; i <= 50; ++i) {
    const std::string element = "!t" + std::to_string(i - 1);
    types += "!t" + std::to_string(i) + " = tuple<" + element + ", " + element + ">\n";
  }
  expect_error(types + "func.func @main(%x: !x, %t: !t50) -> !x { return %x : !x }",
               "a type consists of more than 10000 types, or is nested more than 400 deep");
}

}  // namespace
}  // namespace scopevm
