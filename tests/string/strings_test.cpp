// String tensors in compiled graphs: ops that move, compare and convert strings, also in branches,
// loops, callees and closures.
#include <gmock/gmock.h>

#include "tests/control_flow/run_graph.h"
#include "tests/string/string_tensors.h"

namespace scopevm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The function @main with one op. `operation` is the op with its operands and attributes, `types`
// the operand types, and `result` the result type.
std::string one_op(const std::string& operation, const std::string& inputs,
                   const std::string& types, const std::string& result) {
  return "func.func @main(" + inputs + ") -> (" + result + " {sv.name = \"r\"}) {\n  %r = sv." +
         operation + " : (" + types + ") -> " + result + "\n  return %r : " + result + "\n}\n";
}

const std::string kWords = R"(%words = sv.constant {value = dense<["red", "", "green\22", "red"]>
    : tensor<4x!sv.str>} : !sv.tensor<str[4]>)";

TEST(Strings, InputsAndResultsKeepTheirStrings) {
  Graph graph(one_op("transpose %x {permutation = array<i64: 1, 0>}", "%x: !sv.tensor<str[n, m]>",
                     "!sv.tensor<str[n, m]>", "!sv.tensor<str[m, n]>"));
  const std::string zero("a\0b", 3), cut("\xc3");
  Tensor y = graph.run({strings({2, 3}, {"one", "", zero, "\xc3\xa9t\xc3\xa9", cut, "one"})})[0];
  EXPECT_THAT(dims(y), ElementsAre(3, 2));
  EXPECT_THAT(strings_of(y), ElementsAre("one", "\xc3\xa9t\xc3\xa9", "", cut, zero, "one"));
  // A second request has its own strings.
  EXPECT_THAT(strings_of(graph.run({strings({1, 2}, {"x", "y"})})[0]), ElementsAre("x", "y"));
  // A result of one call is a valid input of another.
  EXPECT_THAT(strings_of(graph.run({y})[0]),
              ElementsAre("one", "", zero, "\xc3\xa9t\xc3\xa9", cut, "one"));
}

TEST(Strings, ConstantsAndInputsShareIds) {
  const std::string type = "!sv.tensor<str[n]>";
  Graph graph("func.func @main(%x: " + type + R"( {sv.name = "x"}) -> (!sv.tensor<bool[n, 4]>,
      !sv.tensor<str["n+4"]>, !sv.tensor<str[4]>) {
    )" + kWords +
              R"(
    %column = sv.reshape %x {dims = #sv.dims<[n, 1]>} : (!sv.tensor<str[n]>) -> !sv.tensor<str[n, 1]>
    %same = sv.equal %column, %words : (!sv.tensor<str[n, 1]>, !sv.tensor<str[4]>) -> !sv.tensor<bool[n, 4]>
    %all = sv.concat %x, %words {axis = 0 : i64} : (!sv.tensor<str[n]>, !sv.tensor<str[4]>) -> !sv.tensor<str["n+4"]>
    return %same, %all, %words : !sv.tensor<bool[n, 4]>, !sv.tensor<str["n+4"]>, !sv.tensor<str[4]>
  })");
  std::vector<Tensor> results = graph.run({strings({"red", "blue", "", "green\""})});
  ASSERT_EQ(results.size(), 3u);
  const auto same = results[0].elements<uint8_t>();
  EXPECT_THAT(std::vector<int>(same.begin(), same.end()),
              ElementsAre(1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0));
  EXPECT_THAT(strings_of(results[1]),
              ElementsAre("red", "blue", "", "green\"", "red", "", "green\"", "red"));
  EXPECT_THAT(strings_of(results[2]), ElementsAre("red", "", "green\"", "red"));
}

TEST(Strings, MovedBySeveralOps) {
  Graph graph(R"(func.func @main(%x: !sv.tensor<str[n]>, %at: !sv.tensor<i64[k]>,
      %which: !sv.tensor<bool[k]>) -> (!sv.tensor<str["k+2"]>) {
    %other = sv.constant {value = dense<"-"> : tensor<!sv.str>} : !sv.tensor<str[]>
    %0 = sv.gather %x, %at {axis = 0 : i64} : (!sv.tensor<str[n]>, !sv.tensor<i64[k]>) -> !sv.tensor<str[k]>
    %1 = sv.select %which, %0, %other : (!sv.tensor<bool[k]>, !sv.tensor<str[k]>, !sv.tensor<str[]>) -> !sv.tensor<str[k]>
    %2 = sv.pad %1 {pads = #sv.dims<[1, 1]>, mode = "constant"} : (!sv.tensor<str[k]>) -> !sv.tensor<str["k+2"]>
    return %2 : !sv.tensor<str["k+2"]>
  })");
  EXPECT_THAT(strings_of(graph.run({strings({"a", "b", "c"}), integers({2, 0, -2}),
                                    booleans({true, false, true})})[0]),
              ElementsAre("", "c", "-", "b", ""));
}

TEST(Strings, PassThroughBranchesAndLoops) {
  Graph graph(R"(func.func @main(%x: !sv.tensor<str[]>, %c: !sv.tensor<bool[]>)
      -> (!sv.tensor<str[3]>) {
    %word = sv.constant {value = dense<"else"> : tensor<!sv.str>} : !sv.tensor<str[]>
    %first = sv.if %c : (!sv.tensor<bool[]>) -> !sv.tensor<str[]> {
      %upper = sv.change_case %x {upper = true} : (!sv.tensor<str[]>) -> !sv.tensor<str[]>
      sv.yield %upper : !sv.tensor<str[]>
    } else {
      sv.yield %word : !sv.tensor<str[]>
    }
    %last, %all = sv.loop %first {index = "$i", trip_count = #sv.dims<[3]>}
        : (!sv.tensor<str[]>) -> (!sv.tensor<str[]>, !sv.tensor<str[3]>) {
    ^bb0(%now: !sv.tensor<str[]>):
      %lower = sv.change_case %now : (!sv.tensor<str[]>) -> !sv.tensor<str[]>
      sv.yield %lower, %now : !sv.tensor<str[]>, !sv.tensor<str[]>
    }
    return %all : !sv.tensor<str[3]>
  })");
  EXPECT_THAT(strings_of(graph.run({strings({}, {"Word"}), boolean(true)})[0]),
              ElementsAre("WORD", "word", "word"));
  EXPECT_THAT(strings_of(graph.run({strings({}, {"Word"}), boolean(false)})[0]),
              ElementsAre("else", "else", "else"));
}

// Strings occur only in a callee, not in @main.
TEST(Strings, OccurOnlyInCallees) {
  Graph graph(R"(
    func.func private @digits(%x: !sv.tensor<i64[n]>) -> !sv.tensor<str[n]> {
      %0 = sv.number_to_string %x : (!sv.tensor<i64[n]>) -> !sv.tensor<str[n]>
      return %0 : !sv.tensor<str[n]>
    }
    func.func private @back(%x: !sv.tensor<i64[n]>) -> !sv.tensor<f32[n]> {
      %0 = sv.call @digits(%x) : (!sv.tensor<i64[n]>) -> !sv.tensor<str[n]>
      %1 = sv.string_to_number %0 {to = "f32"} : (!sv.tensor<str[n]>) -> !sv.tensor<f32[n]>
      return %1 : !sv.tensor<f32[n]>
    }
    func.func @main(%x: !sv.tensor<i64[n]>) -> !sv.tensor<f32[n]> {
      %0 = sv.call @back(%x) : (!sv.tensor<i64[n]>) -> !sv.tensor<f32[n]>
      return %0 : !sv.tensor<f32[n]>
    })");
  EXPECT_THAT(elements(graph.run({integers({7, -12, 1000000})})[0]), ElementsAre(7, -12, 1e6f));
  for (const ScopeUse& use : graph.stats().memory)
    EXPECT_GE(use.bound_bytes, use.peak_bytes) << use.scope;
}

TEST(Strings, CapturedByClosures) {
  Graph graph(R"(
    !two = !sv.tensor<str[2]>
    !n = !sv.tensor<str[n]>
    !match = !sv.closure<(!sv.tensor<str[m]>) -> !sv.tensor<bool[m, 2]>>
    func.func private @which(%kept: !two, %x: !n) -> !sv.tensor<bool[n, 2]> {
      %0 = sv.reshape %x {dims = #sv.dims<[n, 1]>} : (!n) -> !sv.tensor<str[n, 1]>
      %1 = sv.equal %0, %kept : (!sv.tensor<str[n, 1]>, !two) -> !sv.tensor<bool[n, 2]>
      return %1 : !sv.tensor<bool[n, 2]>
    }
    func.func @main(%x: !two, %y: !n, %c: !sv.tensor<bool[]>) -> !sv.tensor<bool[n, 2]> {
      %0 = sv.if %c : (!sv.tensor<bool[]>) -> !match {
        %upper = sv.change_case %x {upper = true} : (!two) -> !two
        %1 = sv.closure @which(%upper) : (!two) -> !match
        sv.yield %1 : !match
      } else {
        %1 = sv.closure @which(%x) : (!two) -> !match
        sv.yield %1 : !match
      }
      %2 = sv.call_closure %0(%y) : (!match, !n) -> !sv.tensor<bool[n, 2]>
      return %2 : !sv.tensor<bool[n, 2]>
    })");
  const auto run = [&](bool is_upper) {
    const Tensor same = graph.run({strings({"a", "b"}), strings({"B", "a"}), boolean(is_upper)})[0];
    return std::vector<int>(same.elements<uint8_t>().begin(), same.elements<uint8_t>().end());
  };
  EXPECT_THAT(run(true), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(run(false), ElementsAre(0, 0, 1, 0));
}

TEST(Strings, ConvertToAndFromNumbers) {
  Graph parse(one_op("string_to_number %x {to = \"f32\"}", "%x: !sv.tensor<str[n]>",
                     "!sv.tensor<str[n]>", "!sv.tensor<f32[n]>"));
  EXPECT_THAT(elements(parse.run({strings({"0.25", " 1e3", "-INF"})})[0]),
              ElementsAre(0.25f, 1000.0f, -std::numeric_limits<float>::infinity()));
  const Status status = parse.status_of({strings({"1", "2", "three"})});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("element 2, \"three\", is not a number of type f32"));
  EXPECT_THAT(elements(parse.run({strings({"7"})})[0]), ElementsAre(7));  // still usable
  // The quoted string in the message is one line and is not cut within a character.
  std::string odd("\0\n\"", 3);
  for (int i = 0; i < 30; ++i) odd += "\xc3\xa9";
  EXPECT_THAT(std::string(parse.status_of({strings({odd})}).message()),
              HasSubstr(R"("\x00\n\")" + odd.substr(3, 36) + "\"..., is not a number of type f32"));
  Graph format(one_op("number_to_string %x", "%x: !sv.tensor<i64[n]>", "!sv.tensor<i64[n]>",
                      "!sv.tensor<str[n]>"));
  EXPECT_THAT(strings_of(format.run({integers({7, -12, 7})})[0]), ElementsAre("7", "-12", "7"));
}

// The largest number of pieces is a data-dependent dim.
TEST(Strings, SplitIntoPieces) {
  Graph graph(R"(
    !n = !sv.tensor<str[n]>
    !word = !sv.tensor<str[]>
    !pieces = !sv.tensor<str[n, "$k"]>
    func.func @main(%x: !n) -> (!pieces, !sv.tensor<i64[n]>) {
      %comma = sv.constant {value = dense<","> : tensor<!sv.str>} : !word
      %counts = sv.count_pieces %x, %comma {max_splits = 2 : i64} : (!n, !word) -> !sv.tensor<i64[n]>
      %most = sv.reduce_max %counts {axes = array<i64: 0>, keep_dims = false} : (!sv.tensor<i64[n]>) -> !sv.tensor<i64[]>
      sv.read_dims %most {symbols = ["$k"]} : !sv.tensor<i64[]>
      %pieces = sv.split_strings %x, %comma {count = #sv.dims<["$k"]>, max_splits = 2 : i64} : (!n, !word) -> !pieces
      %twice = sv.concat_strings %pieces, %pieces : (!pieces, !pieces) -> !pieces
      return %twice, %counts : !pieces, !sv.tensor<i64[n]>
    })");
  std::vector<Tensor> results = graph.run({strings({"a,b", "", "c,,d,e"})});
  EXPECT_THAT(dims(results[0]), ElementsAre(3, 3));
  EXPECT_THAT(strings_of(results[0]), ElementsAre("aa", "bb", "", "", "", "", "cc", "", "d,ed,e"));
  EXPECT_THAT(results[1].elements<int64_t>(), ElementsAre(2, 1, 3));
  EXPECT_THAT(dims(graph.run({strings({"a"})})[0]), ElementsAre(1, 1));
  // Many distinct pieces.
  std::vector<std::string> words, wanted;
  for (int i = 0; i < 9000; ++i) {
    const std::string piece = std::to_string(i), other = std::to_string(i * 7);
    words.push_back(piece + "," + other);
    for (const std::string& text : {piece + piece, other + other}) wanted.push_back(text);
  }
  EXPECT_EQ(strings_of(graph.run({strings(words)})[0]), wanted);
  for (const ScopeUse& use : graph.stats().memory)
    EXPECT_GE(use.bound_bytes, use.peak_bytes) << use.scope;
}

TEST(Strings, ManyDistinctStrings) {
  Graph graph(one_op("change_case %x {upper = true}", "%x: !sv.tensor<str[n]>",
                     "!sv.tensor<str[n]>", "!sv.tensor<str[n]>"));
  std::vector<std::string> words, upper;
  for (int i = 0; i < 20000; ++i) {
    words.push_back("word" + std::to_string(i * 7919 % 15000));
    upper.push_back("WORD" + words.back().substr(4));
  }
  words.push_back(std::string(100000, 'x'));
  upper.push_back(std::string(100000, 'X'));
  EXPECT_EQ(strings_of(graph.run({strings(words)})[0]), upper);
  EXPECT_EQ(strings_of(graph.run({strings(words)})[0]), upper);
  for (const ScopeUse& use : graph.stats().memory) {
    EXPECT_GE(use.bound_bytes, use.peak_bytes) << use.scope;
    if (use.scope == "global") EXPECT_GT(use.peak_bytes, 100000 + 100000);
  }
}

TEST(Strings, OpsWithoutStringSupportRejectThem) {
  auto error = [](const std::string& operation, const std::string& result) {
    return std::string(Graph::compile_error(one_op(operation, "%x: !sv.tensor<str[n]>",
                                                   "!sv.tensor<str[n]>", result))
                           .message());
  };
  EXPECT_THAT(error("relu %x", "!sv.tensor<str[n]>"),
              HasSubstr("relu: operand 0 is str[n], expected a numeric element type"));
  EXPECT_THAT(error("reduce_max %x {axes = array<i64: 0>}", "!sv.tensor<str[1]>"),
              HasSubstr("is str[n], expected a"));
  EXPECT_THAT(error("cast %x {to = \"f32\"}", "!sv.tensor<f32[n]>"),
              HasSubstr("cast: operand 0 is"));
  EXPECT_THAT(error("string_to_number %x {to = \"str\"}", "!sv.tensor<str[n]>"),
              HasSubstr("\"str\" is not a numeric element type"));
  const std::string two = "%x: !sv.tensor<str[n]>, %y: !sv.tensor<str[n]>";
  const std::string types = "!sv.tensor<str[n]>, !sv.tensor<str[n]>";
  for (const char* op : {"add", "less", "matmul", "min", "gather"})
    EXPECT_THAT(std::string(Graph::compile_error(
                                one_op(std::string(op) + " %x, %y" +
                                           (op == std::string("gather") ? " {axis = 0 : i64}" : ""),
                                       two, types, "!sv.tensor<str[n]>"))
                                .message()),
                HasSubstr("is str[n], expected a"))
        << op;
  EXPECT_THAT(
      std::string(Graph::compile_error(one_op("cast %x {to = \"str\"}", "%x: !sv.tensor<i64[n]>",
                                              "!sv.tensor<i64[n]>", "!sv.tensor<str[n]>"))
                      .message()),
      HasSubstr("cannot cast to str; use sv.number_to_string"));
}

TEST(Strings, ResultCanShareItsIdsWithAnInput) {
  Graph graph(one_op("reshape %x {dims = #sv.dims<[n, 1]>}", "%x: !sv.tensor<str[n]>",
                     "!sv.tensor<str[n]>", "!sv.tensor<str[n, 1]>"));
  EXPECT_THAT(std::string(graph.status_of({integers({1, 2})}).message()),
              HasSubstr("wrong element type: expected str[n], given i64[2]"));
  // The op only reshapes, so the result has the string ids of the input.
  EXPECT_THAT(strings_of(graph.run({strings({"a", "b"})})[0]), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace scopevm
