// Matrix products: every row count of a micro-kernel, depths below and above the depth block, all
// orientations, broadcast batches, epilogues, and other element types.
#include <gtest/gtest.h>

#include <bit>

#include "tests/kernels/reference.h"

namespace scopevm::compiler::testing {
namespace {

std::unique_ptr<KernelRunner> compile(const std::string& text, const std::string& cpu = "host") {
  auto runner = KernelRunner::create(text, cpu);
  EXPECT_TRUE(runner.ok()) << runner.status().message() << "\n" << text.substr(0, 2000);
  return runner.ok() ? *std::move(runner) : nullptr;
}

Array run_one(KernelRunner& runner, const std::vector<Array>& inputs, int pieces = 3) {
  auto outputs = runner.run(inputs, {.pieces = pieces});
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs.ok() ? outputs->front() : Array();
}

// A graph that multiplies its input [m, k] by the constant `b`: [k, n], or [n, k] if `transposed`.
std::string constant_matmul(const Array& b, bool transposed) {
  std::string k = std::to_string(b.dims[transposed ? 1 : 0]);
  std::string n = std::to_string(b.dims[transposed ? 0 : 1]);
  return "func.func @main(%a: " + tensor_type("m, " + k) + ") -> " + tensor_type("m, " + n) +
         " {\n" + constant_text("b", b) +
         "  %c = sv.matmul %a, %b {transpose_b = " + (transposed ? "true" : "false") + "} : (" +
         tensor_type("m, " + k) + ", " + static_type(b) + ") -> " + tensor_type("m, " + n) +
         "\n  return %c : " + tensor_type("m, " + n) + "\n}\n";
}

class EveryTarget : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryTarget, ConstantBAtEveryRowCount) {
  for (int64_t k : {5, 64, 1030}) {
    Array b = random_f32({k, 50}, 1);
    auto runner = compile(constant_matmul(b, false), GetParam());
    ASSERT_TRUE(runner);
    for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 25, 127, 241, 490}) {
      Array a = random_f32({m, k}, 2);
      expect_near(run_one(*runner, {a}), reference_matmul(a, b, false, false),
                  "m = " + std::to_string(m) + ", k = " + std::to_string(k));
    }
  }
}

// Constants that f16 or bf16 represents are packed as such, and converted by the micro-kernel.
TEST_P(EveryTarget, NarrowConstantB) {
  for (const bool is_bf16 : {false, true}) {
    Array b = random_f32({1030, 70}, 1);
    std::vector<float> numbers = b.as<float>();
    for (float& x : numbers)
      x = is_bf16 ? std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0xffff0000)
                  : static_cast<float>(static_cast<_Float16>(x));
    if (is_bf16) numbers[7] = 0x1p-100F;  // f16 does not represent it
    b = Array::of<float>(DType::kF32, b.dims, numbers);
    auto runner = compile(constant_matmul(b, false), GetParam());
    ASSERT_TRUE(runner);
    for (int64_t m : {1, 2, 3, 5, 12, 13, 127}) {
      Array a = random_f32({m, 1030}, 2);
      expect_near(run_one(*runner, {a}), reference_matmul(a, b, false, false),
                  (is_bf16 ? "bf16, m = " : "f16, m = ") + std::to_string(m));
    }
  }
}

TEST_P(EveryTarget, TransposedConstantB) {
  Array a = random_f32({7, 33}, 1), b = random_f32({65, 33}, 2);
  auto runner = compile(constant_matmul(b, true), GetParam());
  ASSERT_TRUE(runner);
  expect_near(run_one(*runner, {a}), reference_matmul(a, b, false, true), "transposed");
}

TEST_P(EveryTarget, DynamicOperandsInAllOrientations) {
  for (bool transpose_a : {false, true})
    for (bool transpose_b : {false, true}) {
      std::string a_type = tensor_type(transpose_a ? "k, m" : "m, k");
      std::string b_type = tensor_type(transpose_b ? "n, k" : "k, n"), c_type = tensor_type("m, n");
      auto runner = compile(
          "func.func @main(%a: " + a_type + ", %b: " + b_type + ") -> " + c_type +
              " {\n  %c = sv.matmul %a, %b {transpose_a = " + (transpose_a ? "true" : "false") +
              ", transpose_b = " + (transpose_b ? "true" : "false") + "} : (" + a_type + ", " +
              b_type + ") -> " + c_type + "\n  return %c : " + c_type + "\n}\n",
          GetParam());
      ASSERT_TRUE(runner);
      struct {
        int64_t m, k, n;
      } sizes[] = {{1, 1, 1}, {3, 70, 31}, {26, 64, 26}, {13, 1025, 40}, {5, 0, 3}, {0, 4, 4}};
      for (auto [m, k, n] : sizes) {
        Array a = random_f32(transpose_a ? std::vector{k, m} : std::vector{m, k}, 3);
        Array b = random_f32(transpose_b ? std::vector{n, k} : std::vector{k, n}, 4);
        expect_near(
            run_one(*runner, {a, b}), reference_matmul(a, b, transpose_a, transpose_b),
            "m, k, n = " + std::to_string(m) + ", " + std::to_string(k) + ", " + std::to_string(n));
      }
    }
}

INSTANTIATE_TEST_SUITE_P(MatMul, EveryTarget, ::testing::Values("host", "x86-64-v3", "x86-64"));

TEST(MatMul, BatchesBroadcast) {
  struct {
    const char *a, *b, *c;
    std::vector<int64_t> a_dims, b_dims;
  } cases[] = {
      {"p, q, m, k", "p, q, k, n", "p, q, m, n", {2, 3, 5, 7}, {2, 3, 7, 33}},
      {"p, 1, m, k", "p, q, k, n", "p, q, m, n", {2, 1, 5, 7}, {2, 3, 7, 33}},
      {"p, q, m, k", "q, k, n", "p, q, m, n", {2, 3, 5, 7}, {3, 7, 33}},
      {"m, k", "p, q, k, n", "p, q, m, n", {5, 7}, {2, 3, 7, 33}},
      {"p, q, m, k", "k, n", "p, q, m, n", {2, 3, 5, 7}, {7, 33}},
      {"1, m, k", "p, 1, k, n", "p, 1, m, n", {1, 5, 7}, {2, 1, 7, 33}},
      {"p, q, m, k", "r, q, k, n", "\"max(p, r)\", q, m, n", {2, 3, 5, 7}, {1, 3, 7, 33}},
      {"p, q, m, k", "r, q, k, n", "\"max(p, r)\", q, m, n", {1, 3, 5, 7}, {4, 3, 7, 33}},
  };
  for (auto& t : cases) {
    std::string a_type = tensor_type(t.a), b_type = tensor_type(t.b), c_type = tensor_type(t.c);
    auto runner = compile("func.func @main(%a: " + a_type + ", %b: " + b_type + ") -> " + c_type +
                          " {\n  %c = sv.matmul %a, %b : (" + a_type + ", " + b_type + ") -> " +
                          c_type + "\n  return %c : " + c_type + "\n}\n");
    ASSERT_TRUE(runner);
    Array a = random_f32(t.a_dims, 5), b = random_f32(t.b_dims, 6);
    expect_near(run_one(*runner, {a, b}), reference_matmul(a, b, false, false),
                std::string(t.a) + " x " + t.b);
  }
}

TEST(MatMul, VectorsFollowNumPy) {
  struct {
    const char *a, *b, *c;
    std::vector<int64_t> a_dims, b_dims, a_matrix, b_matrix;
  } cases[] = {
      {"k", "k, n", "n", {40}, {40, 9}, {1, 40}, {40, 9}},
      {"m, k", "k", "m", {13, 40}, {40}, {13, 40}, {40, 1}},
      {"k", "k", "", {40}, {40}, {1, 40}, {40, 1}},
      {"k", "p, k, n", "p, n", {40}, {3, 40, 9}, {1, 40}, {3, 40, 9}},
      {"p, m, k", "k", "p, m", {3, 13, 40}, {40}, {3, 13, 40}, {40, 1}},
  };
  for (auto& t : cases) {
    std::string a_type = tensor_type(t.a), b_type = tensor_type(t.b), c_type = tensor_type(t.c);
    auto runner = compile("func.func @main(%a: " + a_type + ", %b: " + b_type + ") -> " + c_type +
                          " {\n  %c = sv.matmul %a, %b : (" + a_type + ", " + b_type + ") -> " +
                          c_type + "\n  return %c : " + c_type + "\n}\n");
    ASSERT_TRUE(runner);
    Array a = random_f32(t.a_dims, 5), b = random_f32(t.b_dims, 6);
    Array a_matrix = a, b_matrix = b;
    a_matrix.dims = t.a_matrix;
    b_matrix.dims = t.b_matrix;
    expect_near(run_one(*runner, {a, b}), reference_matmul(a_matrix, b_matrix, false, false),
                std::string(t.a) + " x " + t.b);
  }
}

// One matrix b serves all batches. Both of its batch strides must be 0, including that of the batch
// dim of size 1.
TEST(MatMul, OneMatrixForABatchWithLastDimOne) {
  std::string a_type = tensor_type("3, 1, 4, 2"), c_type = tensor_type("3, 1, 2, 8");
  for (const char* b_dims : {"4, 8", "1, 1, 4, 8"}) {
    std::string b_type = tensor_type(b_dims);
    auto runner = compile("func.func @main(%a: " + a_type + ", %b: " + b_type + ") -> " + c_type +
                          " {\n  %c = sv.matmul %a, %b {transpose_a = true} : (" + a_type + ", " +
                          b_type + ") -> " + c_type + "\n  return %c : " + c_type + "\n}\n");
    ASSERT_TRUE(runner);
    Array a = random_f32({3, 1, 4, 2}, 5);
    Array b = random_f32(
        b_dims[0] == '4' ? std::vector<int64_t>{4, 8} : std::vector<int64_t>{1, 1, 4, 8}, 6);
    expect_near(run_one(*runner, {a, b}), reference_matmul(a, b, true, false), b_dims);
  }
}

TEST(MatMul, EpilogueBroadcasts) {
  Array b = random_f32({20, 50}, 1), bias = random_f32({50}, 2);
  std::string x = tensor_type("p, m, 20"), y = tensor_type("p, m, 50");
  std::string text = "func.func @main(%x: " + x + ", %r: " + y + ", %s: " + tensor_type("m, 1") +
                     ") -> " + y + " {\n" + constant_text("w", b) + constant_text("bias", bias) +
                     "  %g = sv.group (%a = %x : " + x + ", %b = %w : " + static_type(b) +
                     ", %c = %bias : " + static_type(bias) + ", %d = %r : " + y + ") -> (" + y +
                     ") {\n    %0 = sv.matmul %a, %b : (" + x + ", " + static_type(b) + ") -> " +
                     y + "\n    %1 = sv.add %0, %c : (" + y + ", " + static_type(bias) + ") -> " +
                     y + "\n    %2 = sv.relu %1 : (" + y + ") -> " + y +
                     "\n    %3 = sv.add %d, %2 : (" + y + ", " + y + ") -> " + y +
                     "\n    sv.yield %3 : " + y + "\n  }\n  return %g : " + y + "\n}\n";
  auto runner = compile(text);
  ASSERT_TRUE(runner);
  Array a = random_f32({2, 15, 20}, 3), residual = random_f32({2, 15, 50}, 4),
        scale = random_f32({15, 1}, 5);
  std::vector<double> expected = reference_matmul(a, b, false, false);
  std::vector<float> bias_values = bias.as<float>(), residual_values = residual.as<float>();
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = residual_values[i] + std::max(0.0, expected[i] + bias_values[i % 50]);
  expect_near(run_one(*runner, {a, residual, scale}), expected, "bias, relu, residual");
}

TEST(MatMul, Integers) {
  std::string a_type = tensor_type("m, k", "i32"), b_type = tensor_type("k, n", "i32"),
              c_type = tensor_type("m, n", "i32");
  auto runner = compile("func.func @main(%a: " + a_type + ", %b: " + b_type + ") -> " + c_type +
                        " {\n  %c = sv.matmul %a, %b : (" + a_type + ", " + b_type + ") -> " +
                        c_type + "\n  return %c : " + c_type + "\n}\n");
  ASSERT_TRUE(runner);
  Array a = Array::of<int32_t>(DType::kI32, {2, 3}, {1, 2, 3, 4, 5, 6});
  Array b = Array::of<int32_t>(DType::kI32, {3, 2}, {7, 8, 9, 10, 11, 12});
  EXPECT_EQ(run_one(*runner, {a, b}).as<int32_t>(), (std::vector<int32_t>{58, 64, 139, 154}));
}

TEST(MatMul, OneKernelServesAllShapes) {
  Array b = random_f32({20, 50}, 1), d = random_f32({50, 70}, 2);
  std::string text = "func.func @main(%x: " + tensor_type("m, 20") + ") -> " +
                     tensor_type("m, 70") + " {\n" + constant_text("b", b) + constant_text("d", d) +
                     "  %0 = sv.matmul %x, %b : (" + tensor_type("m, 20") + ", " + static_type(b) +
                     ") -> " + tensor_type("m, 50") + "\n  %1 = sv.matmul %0, %d : (" +
                     tensor_type("m, 50") + ", " + static_type(d) + ") -> " + tensor_type("m, 70") +
                     "\n  return %1 : " + tensor_type("m, 70") + "\n}\n";
  auto runner = compile(text);
  ASSERT_TRUE(runner);
  EXPECT_EQ(runner->kernel_count(), 1u);
  EXPECT_EQ(runner->steps().size(), 2u);
}

}  // namespace
}  // namespace scopevm::compiler::testing
