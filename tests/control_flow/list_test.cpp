// Lists with data-dependent lengths, from MLIR assembly to results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control_flow/run_graph.h"

namespace scopevm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// The concatenated elements of all tensors of a result.
std::vector<float> all_elements(const Call& call, size_t output = 0) {
  std::vector<float> all;
  const auto made = call.elements(output);
  for (const Tensor& tensor : *made)
    for (float element : elements(tensor)) all.push_back(element);
  return all;
}

Status run(Call& call, std::vector<Tensor> sequence, const std::vector<Tensor>& others = {}) {
  Status status = call.set_sequence("input0", std::move(sequence));
  for (size_t i = 0; status.ok() && i < others.size(); ++i)
    status = call.set_input(1 + i, others[i]);
  return status.ok() ? call.run() : status;
}

// A graph with two inputs: the sequence %xs and the integer %i, whose value is `$i-$i.neg`. `body`
// computes the result, the list %r.
Graph over_sequence(const std::string& body) {
  return Graph(R"(
    func.func @main(%xs: !sv.list<sequence f32[?]>, %i: !sv.tensor<i64[]>)
        -> !sv.list<sequence f32[?]> {
      sv.read_dims %i {is_signed = true, symbols = ["$i"]} : !sv.tensor<i64[]>
)" + body + R"(
      return %r : !sv.list<sequence f32[?]>
    })");
}

constexpr char kErase[] = R"(
      %r = sv.list_erase %xs {index = #sv.dims<["$i-$i.neg"]>}
          : (!sv.list<sequence f32[?]>) -> !sv.list<sequence f32[?]>)";

TEST(Lists, IndicesCountFromBothEnds) {
  Graph graph = over_sequence(kErase);
  const std::vector<Tensor> sequence = {floats({1}), floats({2, 3}), floats({4})};
  auto erased = [&](int64_t index) {
    Status status = run(graph.call(), sequence, {integer(index)});
    EXPECT_TRUE(status.ok()) << status.message();
    return all_elements(graph.call());
  };
  EXPECT_THAT(erased(0), ElementsAre(2, 3, 4));
  EXPECT_THAT(erased(1), ElementsAre(1, 4));
  EXPECT_THAT(erased(-1), ElementsAre(1, 2, 3));
  EXPECT_THAT(erased(-3), ElementsAre(2, 3, 4));
  for (int64_t index : {3, -4}) {
    Status status = run(graph.call(), sequence, {integer(index)});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(
        std::string(status.message()),
        HasSubstr("index " + std::to_string(index) + " is out of range for a list of 3 elements"));
  }
}

TEST(Lists, ReadingAnElementDefinesItsDims) {
  Graph graph = over_sequence(R"(
      %x = sv.list_get %xs {index = #sv.dims<["$i-$i.neg"]>, symbols = ["$d"]}
          : (!sv.list<sequence f32[?]>) -> !sv.tensor<f32["$d"]>
      %y = sv.concat %x, %x {axis = 0 : i64}
          : (!sv.tensor<f32["$d"]>, !sv.tensor<f32["$d"]>) -> !sv.tensor<f32["2*$d"]>
      %s = sv.list_insert %xs, %y {index = #sv.dims<[0]>}
          : (!sv.list<sequence f32[?]>, !sv.tensor<f32["2*$d"]>) -> !sv.list<sequence f32[?]>
      %r = sv.list_insert %s, %x {index = #sv.dims<[]>}
          : (!sv.list<sequence f32[?]>, !sv.tensor<f32["$d"]>) -> !sv.list<sequence f32[?]>)");
  Status status = run(graph.call(), {floats({1}), floats({2, 3})}, {integer(1)});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(all_elements(graph.call()), ElementsAre(2, 3, 2, 3, 1, 2, 3, 2, 3));
  status = run(graph.call(), {floats({1}), floats({2, 3})}, {integer(0)});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(all_elements(graph.call()), ElementsAre(1, 1, 1, 2, 3, 1));
}

TEST(Lists, BranchReturnsOneOfTwoLists) {
  Graph graph(R"(
    func.func @main(%xs: !sv.list<sequence f32[?]>, %c: !sv.tensor<bool[]>, %x: !sv.tensor<f32[n]>)
        -> (!sv.list<sequence f32[?]>, !sv.list<sequence f32[?]>) {
      %0 = sv.if %c : (!sv.tensor<bool[]>) -> !sv.list<sequence f32[?]> {
        %1 = sv.list_insert %xs, %x {index = #sv.dims<[]>}
            : (!sv.list<sequence f32[?]>, !sv.tensor<f32[n]>) -> !sv.list<sequence f32[?]>
        sv.yield %1 : !sv.list<sequence f32[?]>
      } else {
        %2 = sv.list : () -> !sv.list<sequence f32>
        sv.yield %2 : !sv.list<sequence f32>
      }
      return %0, %xs : !sv.list<sequence f32[?]>, !sv.list<sequence f32[?]>
    })");
  Status status = run(graph.call(), {floats({1})}, {boolean(true), floats({2, 3})});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(all_elements(graph.call()), ElementsAre(1, 2, 3));
  EXPECT_THAT(all_elements(graph.call(), 1), ElementsAre(1));
  status = run(graph.call(), {floats({1})}, {boolean(false), floats({2, 3})});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(all_elements(graph.call()), IsEmpty());
}

// One branch extends a list that the other one returns, and neither path needs it afterwards.
TEST(Lists, AListIsExtendedInOneOfTwoBranches) {
  Graph graph(R"(
    func.func @main(%x: !sv.tensor<f32[n]>, %c: !sv.tensor<bool[]>, %d: !sv.tensor<bool[]>)
        -> !sv.list<sequence f32[?]> {
      %0 = sv.if %c : (!sv.tensor<bool[]>) -> !sv.list<sequence f32[?]> {
        %3 = sv.list %x, %x
            : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.list<sequence f32[?]>
        sv.yield %3 : !sv.list<sequence f32[?]>
      } else {
        %3 = sv.list %x : (!sv.tensor<f32[n]>) -> !sv.list<sequence f32[?]>
        sv.yield %3 : !sv.list<sequence f32[?]>
      }
      %1 = sv.if %d : (!sv.tensor<bool[]>) -> !sv.list<sequence f32[?]> {
        %3 = sv.list_insert %0, %x {index = #sv.dims<[]>}
            : (!sv.list<sequence f32[?]>, !sv.tensor<f32[n]>) -> !sv.list<sequence f32[?]>
        sv.yield %3 : !sv.list<sequence f32[?]>
      } else {
        sv.yield %0 : !sv.list<sequence f32[?]>
      }
      return %1 : !sv.list<sequence f32[?]>
    })");
  for (const bool has_two : {false, true})
    for (const bool is_extended : {false, true}) {
      const Status status = graph.status_of({floats({7}), boolean(has_two), boolean(is_extended)});
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_THAT(all_elements(graph.call()), SizeIs(1 + has_two + is_extended));
    }
}

// Doubles %s in each iteration and appends the result to a list. The next iteration overwrites the
// buffer of %s; the elements of the list must not change.
constexpr char kHistory[] = R"(
    func.func @main(%n: !sv.tensor<i64[]>, %x: !sv.tensor<f32[100]>)
        -> !sv.list<sequence f32[100]> {
      sv.read_dims %n {symbols = ["$n"]} : !sv.tensor<i64[]>
      %e = sv.list : () -> !sv.list<sequence f32>
      %0:2 = sv.loop %e, %x {index = "$i", trip_count = #sv.dims<["$n"]>}
          : (!sv.list<sequence f32>, !sv.tensor<f32[100]>)
          -> (!sv.list<sequence f32[100]>, !sv.tensor<f32[100]>) {
      ^bb0(%l: !sv.list<sequence f32[100]>, %s: !sv.tensor<f32[100]>):
        %1 = sv.add %s, %s : (!sv.tensor<f32[100]>, !sv.tensor<f32[100]>) -> !sv.tensor<f32[100]>
        %2 = sv.list_insert %l, %1 {index = #sv.dims<[]>}
            : (!sv.list<sequence f32[100]>, !sv.tensor<f32[100]>) -> !sv.list<sequence f32[100]>
        sv.yield %2, %1 : !sv.list<sequence f32[100]>, !sv.tensor<f32[100]>
      }
      return %0#0 : !sv.list<sequence f32[100]>
    })";

TEST(Lists, ListElementsAreNotOverwritten) {
  Graph graph(kHistory);
  Tensor x = floats(std::vector<float>(100, 1.F));
  ASSERT_TRUE(graph.status_of({integer(4), x}).ok());
  std::vector<float> firsts;
  const auto made = graph.call().elements(0);
  for (const Tensor& tensor : *made) firsts.push_back(elements(tensor)[0]);
  EXPECT_THAT(firsts, ElementsAre(2, 4, 8, 16));
  ASSERT_TRUE(graph.status_of({integer(0), x}).ok());
  EXPECT_TRUE(graph.call().elements(0)->empty());
}

// Each element has its own storage, and the capacity of the list grows geometrically. The number of
// moves is therefore linear in the number of iterations.
TEST(Lists, AppendingInALoopIsLinear) {
  Graph graph(kHistory);
  ASSERT_TRUE(graph.status_of({integer(1000), floats(std::vector<float>(100, 0.F))}).ok());
  EXPECT_EQ(graph.call().elements(0)->size(), 1000U);
  EXPECT_GE(graph.allocations("global"), 1000);
  EXPECT_LE(graph.allocations("global"), 1000 + 12);
  EXPECT_LE(graph.allocations("global.workspace"), 2);
}

// In each iteration, a branch returns the list. The branch must not copy the list.
TEST(Lists, AppendingInABranchIsLinear) {
  Graph graph(R"(
    func.func @main(%n: !sv.tensor<i64[]>, %x: !sv.tensor<f32[1]>, %c: !sv.tensor<bool[]>)
        -> !sv.list<sequence f32[1]> {
      sv.read_dims %n {symbols = ["$n"]} : !sv.tensor<i64[]>
      %e = sv.list : () -> !sv.list<sequence f32>
      %0 = sv.loop %e {index = "$i", trip_count = #sv.dims<["$n"]>}
          : (!sv.list<sequence f32>) -> !sv.list<sequence f32[1]> {
      ^bb0(%l: !sv.list<sequence f32[1]>):
        %1 = sv.if %c : (!sv.tensor<bool[]>) -> !sv.list<sequence f32[1]> {
          %2 = sv.add %x, %x : (!sv.tensor<f32[1]>, !sv.tensor<f32[1]>) -> !sv.tensor<f32[1]>
          %3 = sv.list_insert %l, %2 {index = #sv.dims<[]>}
              : (!sv.list<sequence f32[1]>, !sv.tensor<f32[1]>) -> !sv.list<sequence f32[1]>
          sv.yield %3 : !sv.list<sequence f32[1]>
        } else {
          sv.yield %l : !sv.list<sequence f32[1]>
        }
        sv.yield %1 : !sv.list<sequence f32[1]>
      }
      return %0 : !sv.list<sequence f32[1]>
    })");
  ASSERT_TRUE(graph.status_of({integer(1000), floats({3}), boolean(true)}).ok());
  EXPECT_EQ(graph.call().elements(0)->size(), 1000U);
  EXPECT_LE(graph.allocations("global"), 1000 + 12);
  ASSERT_TRUE(graph.status_of({integer(1000), floats({3}), boolean(false)}).ok());
  EXPECT_TRUE(graph.call().elements(0)->empty());
}

TEST(Lists, CarriedListsAreSwapped) {
  Graph graph(R"(
    func.func @main(%n: !sv.tensor<i64[]>, %x: !sv.tensor<f32[1]>)
        -> (!sv.list<sequence f32[1]>, !sv.list<sequence f32[1]>) {
      sv.read_dims %n {symbols = ["$n"]} : !sv.tensor<i64[]>
      %a = sv.list %x : (!sv.tensor<f32[1]>) -> !sv.list<sequence f32[1]>
      %b = sv.list %x, %x
          : (!sv.tensor<f32[1]>, !sv.tensor<f32[1]>) -> !sv.list<sequence f32[1]>
      %0:2 = sv.loop %a, %b {index = "$i", trip_count = #sv.dims<["$n"]>}
          : (!sv.list<sequence f32[1]>, !sv.list<sequence f32[1]>)
          -> (!sv.list<sequence f32[1]>, !sv.list<sequence f32[1]>) {
      ^bb0(%p: !sv.list<sequence f32[1]>, %q: !sv.list<sequence f32[1]>):
        sv.yield %q, %p : !sv.list<sequence f32[1]>, !sv.list<sequence f32[1]>
      }
      return %0#0, %0#1 : !sv.list<sequence f32[1]>, !sv.list<sequence f32[1]>
    })");
  for (int64_t n : {0, 1, 2, 5}) {
    ASSERT_TRUE(graph.status_of({integer(n), floats({7})}).ok());
    EXPECT_EQ(graph.call().elements(0)->size(), n % 2 == 0 ? 1U : 2U);
    EXPECT_EQ(graph.call().elements(1)->size(), n % 2 == 0 ? 2U : 1U);
  }
}

// A view is inserted with its own dims. A constant, an input and an element of another list are
// inserted unchanged.
TEST(Lists, AcceptsElementsOfEveryOrigin) {
  Graph graph(R"(
    func.func @main(%xs: !sv.list<sequence f32[2, 2]>, %x: !sv.tensor<f32[4]>)
        -> !sv.list<sequence f32[2, 2]> {
      %0 = sv.reshape %x {dims = #sv.dims<[2, 2]>} : (!sv.tensor<f32[4]>) -> !sv.tensor<f32[2, 2]>
      %1 = sv.neg %x : (!sv.tensor<f32[4]>) -> !sv.tensor<f32[4]>
      %2 = sv.reshape %1 {dims = #sv.dims<[2, 2]>} : (!sv.tensor<f32[4]>) -> !sv.tensor<f32[2, 2]>
      %3 = sv.constant {value = dense<5.0> : tensor<2x2xf32>} : !sv.tensor<f32[2, 2]>
      %4 = sv.list_get %xs {index = #sv.dims<[0]>}
          : (!sv.list<sequence f32[2, 2]>) -> !sv.tensor<f32[2, 2]>
      %5 = sv.list %0, %2, %3, %4
          : (!sv.tensor<f32[2, 2]>, !sv.tensor<f32[2, 2]>, !sv.tensor<f32[2, 2]>,
             !sv.tensor<f32[2, 2]>) -> !sv.list<sequence f32[2, 2]>
      return %5 : !sv.list<sequence f32[2, 2]>
    })");
  Status status = run(graph.call(), {floats({2, 2}, {6, 7, 8, 9})}, {floats({1, 2, 3, 4})});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(all_elements(graph.call()),
              ElementsAre(1, 2, 3, 4, -1, -2, -3, -4, 5, 5, 5, 5, 6, 7, 8, 9));
}

TEST(Lists, OptionalHoldsASequenceOrNothing) {
  Graph graph(R"(
    func.func @main(%o: !sv.list<optional sequence f32[...]>)
        -> (!sv.tensor<i64[]>, !sv.list<optional sequence f32[...]>) {
      sv.list_size %o {symbol = "$has"} : (!sv.list<optional sequence f32[...]>) -> ()
      %0 = sv.dims_tensor {dims = #sv.dims<["$has"]>, scalar = true} : () -> !sv.tensor<i64[]>
      return %0, %o : !sv.tensor<i64[]>, !sv.list<optional sequence f32[...]>
    })");
  ASSERT_TRUE(graph.call().set_no_value("input0").ok());
  ASSERT_TRUE(graph.call().run().ok());
  EXPECT_THAT(integers_of(graph.call().outputs()[0]), ElementsAre(0));
  EXPECT_FALSE(*graph.call().has_value(1));
  ASSERT_TRUE(run(graph.call(), {floats({1}), floats({1, 1}, {2})}).ok());
  EXPECT_THAT(integers_of(graph.call().outputs()[0]), ElementsAre(1));
  EXPECT_THAT(all_elements(graph.call(), 1), ElementsAre(1, 2));
}

TEST(Lists, TypeMismatchIsAnError) {
  auto error = [](const std::string& op) {
    return std::string(Graph::compile_error("func.func @main(%xs: !sv.list<sequence f32[?, 4]>, "
                                            "%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {\n" +
                                            op + "\nreturn %x : !sv.tensor<f32[n]>\n}")
                           .message());
  };
  EXPECT_THAT(error("%0 = sv.list_insert %xs, %x {index = #sv.dims<[]>} : (!sv.list<sequence "
                    "f32[?, 4]>, !sv.tensor<f32[n]>) -> !sv.list<sequence f32[?, 4]>"),
              HasSubstr("element f32[n] cannot be stored in sequence f32[?, 4]"));
  EXPECT_THAT(error("%0 = sv.list_get %xs {index = #sv.dims<[0]>} : (!sv.list<sequence f32[?, 4]>) "
                    "-> !sv.tensor<f32[n, 4]>"),
              HasSubstr("result f32[n, 4] is not an element of sequence f32[?, 4]"));
  EXPECT_THAT(error("%0 = sv.list_erase %xs {index = #sv.dims<[]>} : (!sv.list<sequence f32[?, "
                    "4]>) -> !sv.list<sequence f32[?, 4]>"),
              HasSubstr("expected 1 index, given 0"));
  EXPECT_THAT(error("%0 = sv.list %x, %x : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> "
                    "!sv.list<optional f32[?]>"),
              HasSubstr("an optional has at most 1 element, given 2"));
  EXPECT_THAT(error("%0 = sv.relu %xs : (!sv.list<sequence f32[?, 4]>) -> !sv.tensor<f32[n]>"),
              HasSubstr("must be"));
}

}  // namespace
}  // namespace scopevm
