// Products with weights that are quantised in blocks, compared with loops over the dequantised
// weight. Covers numbers of bits, block sizes, depths and columns that are not multiples of blocks
// or panels, numbers of rows on both sides of the switch to dequantised panels, zero points, and
// operands that are not constants.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "runtime/cpu/cpu_features.h"
#include "tests/kernels/reference.h"

namespace scopevm::compiler::testing {
namespace {

enum class Zeros { kDefault, kByBlock, kEqual };

struct Weight {
  int64_t columns, depth, bits, block;
  Array q, scales, zeros;
  std::vector<float> scale_numbers, zero_numbers;

  Weight(int64_t columns_, int64_t depth_, int64_t bits_, int64_t block_, Zeros kind)
      : columns(columns_), depth(depth_), bits(bits_), block(block_) {
    const int64_t blocks = (depth + block - 1) / block;
    // One byte more than the depth needs.
    const int64_t bytes = (depth * bits + 7) / 8 + 1;
    std::vector<uint8_t> integers(static_cast<size_t>(columns * bytes));
    for (uint8_t& byte : integers) byte = static_cast<uint8_t>(next());
    q = Array::of(DType::kU8, {columns, bytes}, integers);
    std::vector<float> numbers(static_cast<size_t>(columns * blocks));
    for (float& number : numbers) number = static_cast<float>(next() % 1000) / 4096;
    scales = Array::of(DType::kF32, {columns, blocks}, numbers);
    for (float& number : numbers)
      number = kind == Zeros::kEqual ? 3 : static_cast<float>(next() % (1u << bits)) / 2;
    zeros = kind == Zeros::kDefault
                ? Array::of<float>(DType::kF32, {}, {static_cast<float>(1 << (bits - 1))})
                : Array::of(DType::kF32, {columns, blocks}, numbers);
    scale_numbers = scales.as<float>();
    zero_numbers = zeros.as<float>();
  }

  uint32_t next() {
    seed_ = seed_ * 1664525 + 1013904223;  // linear congruential generator of Numerical Recipes
    return seed_ >> 16;
  }

  double at(int64_t column, int64_t k) const {
    const auto element = static_cast<size_t>(column * scales.dims[1] + k / block);
    const uint8_t byte = q.bytes[static_cast<size_t>(column * q.dims[1] + k * bits / 8)];
    const int integer = byte >> (k * bits % 8) & ((1 << bits) - 1);
    const double zero = zero_numbers[zeros.dims.empty() ? 0 : element];
    return (integer - zero) * static_cast<double>(scale_numbers[element]);
  }

  std::vector<double> product(const Array& a) const {
    std::vector<double> result;
    const std::vector<float> numbers = a.as<float>();
    for (size_t row = 0; row < numbers.size(); row += static_cast<size_t>(depth))
      for (int64_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += static_cast<double>(numbers[row + static_cast<size_t>(k)]) * at(column, k);
        result.push_back(sum);
      }
    return result;
  }

  std::string attributes() const {
    return " {depth = " + std::to_string(depth) + ", bits = " + std::to_string(bits) +
           ", block = " + std::to_string(block) + "}";
  }
  std::string operand_types(const std::string& a) const {
    return "(" + a + ", " + static_type(q) + ", " + static_type(scales) + ", " +
           static_type(zeros) + ")";
  }

 private:
  uint32_t seed_ = 1;
};

Array numbers(std::vector<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i * 37 % 101 - 50) / 64);
  return Array::of(DType::kF32, std::move(dims), values);
}

// Multiplies the input [m, depth] by a constant weight and adds 1.
std::string constant_text_of(const Weight& w) {
  const std::string a = tensor_type("m, " + std::to_string(w.depth)),
                    y = tensor_type("m, " + std::to_string(w.columns)), one = tensor_type("");
  return "func.func @main(%a: " + a + ", %one: " + one + ") -> " + y + " {\n" +
         constant_text("q", w.q) + constant_text("s", w.scales) + constant_text("z", w.zeros) +
         "  %p = sv.matmul_blocks %a, %q, %s, %z" + w.attributes() + " : " + w.operand_types(a) +
         " -> " + y + "\n  %y = sv.add %p, %one : (" + y + ", " + one + ") -> " + y +
         "\n  return %y : " + y + "\n}\n";
}

void expect_product(KernelRunner& runner, const Weight& w, const std::vector<Array>& inputs,
                    double added, const std::string& what) {
  auto outputs = runner.run(inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  std::vector<double> wanted = w.product(inputs[0]);
  for (double& number : wanted) number += added;
  expect_near(outputs->front(), wanted, what);
}

class BlocksOnEveryTarget : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string_view(GetParam()) == "x86-64-v4" && !runtime::cpu_has("avx512f"))
      GTEST_SKIP() << "this CPU has no AVX-512";
  }
};

TEST_P(BlocksOnEveryTarget, ConstantWeight) {
  const Weight weights[] = {
      {70, 67, 4, 32, Zeros::kDefault}, {33, 130, 4, 16, Zeros::kByBlock},
      {64, 70, 8, 64, Zeros::kDefault}, {5, 45, 8, 16, Zeros::kByBlock},
      {40, 77, 2, 16, Zeros::kDefault}, {32, 61, 2, 32, Zeros::kByBlock},
      {31, 1, 4, 4, Zeros::kEqual},     {96, 1100, 4, 128, Zeros::kEqual},
  };
  for (const Weight& w : weights) {
    auto runner = KernelRunner::create(constant_text_of(w), GetParam());
    ASSERT_TRUE(runner.ok()) << runner.status().message();
    EXPECT_NE((*runner)->steps()[0].find("matmul_blocks"), std::string::npos);
    EXPECT_EQ((*runner)->steps()[0].find("loops"), std::string::npos) << (*runner)->steps()[0];
    for (int64_t m : {0, 1, 2, 3, 4, 5, 13, 26}) {
      const std::string what = std::to_string(m) + " rows, " + std::to_string(w.columns) + " x " +
                               std::to_string(w.depth) + ", " + std::to_string(w.bits) + " bits";
      expect_product(**runner, w, {numbers({m, w.depth}), numbers({})}, -50.0 / 64, what);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(BlockMatMul, BlocksOnEveryTarget,
                         ::testing::Values("host", "x86-64-v4", "x86-64-v3", "x86-64"));

// A weight that is an input, a block that is not a multiple of 4, and rows in two dims.
TEST(BlockMatMul, Loops) {
  for (Zeros zeros : {Zeros::kDefault, Zeros::kByBlock}) {
    for (int64_t bits : {2, 4, 8}) {
      const Weight w(9, 50, bits, 7, zeros);
      const std::string a = tensor_type("m, n, k"), y = tensor_type("m, n, 9");
      auto runner = KernelRunner::create(
          "func.func @main(%a: " + a + ", %q: " + static_type(w.q) +
          ", %s: " + static_type(w.scales) + ", %z: " + static_type(w.zeros) + ") -> " + y +
          " {\n  %y = sv.matmul_blocks %a, %q, %s, %z" + w.attributes() + " : " +
          w.operand_types(a) + " -> " + y + "\n  return %y : " + y + "\n}\n");
      ASSERT_TRUE(runner.ok()) << runner.status().message();
      expect_product(**runner, w, {numbers({2, 3, 50}), w.q, w.scales, w.zeros}, 0, "loops");
    }
  }
}

// Zero points that differ by less than 1e-6 have kernels of their own.
TEST(BlockMatMul, NearZeroPoints) {
  const std::string a = tensor_type("m, 4");
  const Array q = Array::of(DType::kU8, {1, 2}, std::vector<uint8_t>{0, 0});
  const Array scales = Array::of<float>(DType::kF32, {1, 1}, {1e6f});
  const std::string y = tensor_type("m, 1"), types = "(" + a + ", " + static_type(q) + ", " +
                                                     static_type(scales) + ", " + tensor_type("") +
                                                     ") -> " + y;
  const std::string of = " {depth = 4, bits = 4, block = 4} : " + types + "\n";
  auto runner = KernelRunner::create(
      "func.func @main(%a: " + a + ") -> (" + y + ", " + y + ") {\n" + constant_text("q", q) +
      constant_text("s", scales) + constant_text("z", Array::of<float>(DType::kF32, {}, {0.0f})) +
      constant_text("near", Array::of<float>(DType::kF32, {}, {4e-7f})) +
      "  %y = sv.matmul_blocks %a, %q, %s, %z" + of + "  %t = sv.matmul_blocks %a, %q, %s, %near" +
      of + "  return %y, %t : " + y + ", " + y + "\n}\n");
  ASSERT_TRUE(runner.ok()) << runner.status().message();
  auto outputs = (*runner)->run({Array::of<float>(DType::kF32, {1, 4}, {1, 1, 1, 1})});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  expect_near((*outputs)[0], {0}, "zero");
  expect_near((*outputs)[1], {-1.6}, "near zero");
}

}  // namespace
}  // namespace scopevm::compiler::testing
