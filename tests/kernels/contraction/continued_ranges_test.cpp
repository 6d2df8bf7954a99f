// Kernels that keep packed operands in the scratch memory of a worker: the calls of a range share
// them, and every division into calls gives the same bytes.
#include <gtest/gtest.h>

#include "tests/kernels/reference.h"

namespace scopevm::compiler::testing {
namespace {

constexpr int64_t kOneCall = int64_t{1} << 40;

struct Case {
  const char* name;
  std::string text;
  std::vector<Array> inputs;
};

std::string op_text(const std::string& op, const std::vector<std::string>& operands,
                    const std::string& result) {
  std::string types;
  for (const std::string& type : operands) types += (types.empty() ? "" : ", ") + type;
  return "func.func @main(%x: " + operands[0] + ", %y: " + operands[1] + ") -> " + result +
         " {\n  %z = " + op + " : (" + types + ") -> " + result + "\n  return %z : " + result +
         "\n}\n";
}

// Five row blocks of three panels per batch element.
Case matmul() {
  return {"matmul",
          op_text("sv.matmul %x, %y", {tensor_type("b, m, k"), tensor_type("b, k, n")},
                  tensor_type("b, m, n")),
          {random_f32({2, 1100, 20}, 1), random_f32({2, 20, 70}, 2)}};
}

// One row block of four parts, and three panels per batch element.
Case deep_matmul() {
  Case c = matmul();
  c.name = "deep matmul";
  c.inputs = {random_f32({2, 45, 22000}, 1), random_f32({2, 22000, 70}, 2)};
  return c;
}

// Three row blocks per panel, for three panels per image.
Case conv() {
  return {"conv",
          op_text("sv.conv %x, %y {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, "
                  "dilations = array<i64: 1, 1>, group = 1 : i64}",
                  {tensor_type("n, 4, h, w"), tensor_type("500, 4, 3, 3")},
                  tensor_type("n, 500, \"h+-2\", \"w+-2\"")),
          {random_f32({2, 4, 11, 12}, 3), random_f32({500, 4, 3, 3}, 4)}};
}

// Five row blocks per batch element.
Case attention() {
  const std::string x = tensor_type("b, s, d"), scores = tensor_type("b, s, s");
  return {"attention",
          "func.func @main(%x: " + x + ", %y: " + x + ") -> " + x +
              " {\n  %0 = sv.matmul %x, %y {transpose_b = true} : (" + x + ", " + x + ") -> " +
              scores + "\n  %1 = sv.softmax %0 {axis = 2 : i64} : (" + scores + ") -> " + scores +
              "\n  %2 = sv.matmul %1, %y : (" + scores + ", " + x + ") -> " + x +
              "\n  return %2 : " + x + "\n}\n",
          {random_f32({2, 200, 16}, 5), random_f32({2, 200, 16}, 6)}};
}

std::vector<uint8_t> bytes(KernelRunner& runner, const std::vector<Array>& inputs,
                           const Division& division) {
  auto outputs = runner.run(inputs, division);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs.ok() ? outputs->front().bytes : std::vector<uint8_t>();
}

std::unique_ptr<KernelRunner> compile_on_host(const std::string& text) {
  auto runner = KernelRunner::create(text, "host", /*fuse=*/true);
  EXPECT_TRUE(runner.ok()) << runner.status().message() << "\n" << text;
  return runner.ok() ? *std::move(runner) : nullptr;
}

TEST(ContinuedRanges, EveryDivisionGivesTheSameBytes) {
  for (const Case& c : {matmul(), deep_matmul(), conv(), attention()}) {
    SCOPED_TRACE(c.name);
    auto runner = compile_on_host(c.text);
    ASSERT_TRUE(runner);
    const auto expected = bytes(*runner, c.inputs, {.pieces = 1, .call_items = kOneCall});
    for (const int pieces : {1, 2, 7})
      for (const int64_t call_items : {1, 2, 3, 5, 8})
        EXPECT_EQ(bytes(*runner, c.inputs, {.pieces = pieces, .call_items = call_items}), expected)
            << pieces << " pieces, calls of " << call_items << " items";
  }
}

// All items share the packed operand, so only the first call reads it from the input.
TEST(ContinuedRanges, LaterCallsReuseTheRowsOfAMatMul) {
  const Array a = random_f32({100, 20}, 1), b = random_f32({20, 320}, 2);
  auto runner = compile_on_host("func.func @main(%a: " + tensor_type("m, 20") + ") -> " +
                                tensor_type("m, 320") + " {\n" + constant_text("b", b) +
                                "  %c = sv.matmul %a, %b : (" + tensor_type("m, 20") + ", " +
                                static_type(b) + ") -> " + tensor_type("m, 320") +
                                "\n  return %c : " + tensor_type("m, 320") + "\n}\n");
  ASSERT_TRUE(runner);
  EXPECT_EQ(bytes(*runner, {a}, {.pieces = 1, .call_items = 1, .erases_inputs = true}),
            bytes(*runner, {a}, {.pieces = 1, .call_items = kOneCall}));
}

}  // namespace
}  // namespace scopevm::compiler::testing
