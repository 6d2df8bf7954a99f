// Matrix products of bytes have exact i32 results on every target. Covers row counts, depths that
// are not multiples of four or of a depth block, the largest products, batches, epilogues, and the
// fallback loops for other combinations of signedness.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "runtime/cpu/cpu_features.h"
#include "tests/kernels/reference.h"

namespace scopevm::compiler::testing {
namespace {

std::unique_ptr<KernelRunner> compile_bytes(const std::string& text,
                                            const std::string& cpu = "host") {
  auto runner = KernelRunner::create(text, cpu);
  EXPECT_TRUE(runner.ok()) << runner.status().message() << "\n" << text.substr(0, 2000);
  return runner.ok() ? *std::move(runner) : nullptr;
}

Array run_bytes(KernelRunner& runner, const std::vector<Array>& inputs) {
  auto outputs = runner.run(inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs.ok() ? outputs->front() : Array();
}

// Random bytes; 0x80, 0xFF, 0x7F and 0 are more frequent than others.
Array bytes(DType dtype, std::vector<int64_t> dims, uint32_t seed) {
  size_t count = 1;
  for (int64_t dim : dims) count *= static_cast<size_t>(dim);
  std::vector<uint8_t> values(count);
  for (uint8_t& value : values) {
    seed = seed * 1664525 + 1013904223;  // linear congruential generator of Numerical Recipes
    const uint8_t kEdges[4] = {0x80, 0xFF, 0x7F, 0};
    value = (seed >> 28) < 4 ? kEdges[seed >> 28] : static_cast<uint8_t>(seed >> 16);
  }
  return Array::of(dtype, std::move(dims), values);
}

int64_t at(const Array& array, int64_t i) {
  return array.dtype == DType::kI8 ? static_cast<int8_t>(array.bytes[i]) : array.bytes[i];
}

// The product of `a` [m, k] or [batch, m, k] and `b` [k, n] or [batch, k, n].
std::vector<int32_t> expected(const Array& a, const Array& b) {
  int64_t k = a.dims.back(), n = b.dims.back(), m = a.dims[a.dims.size() - 2];
  int64_t batches = a.dims.size() == 3 ? a.dims[0] : 1;
  std::vector<int32_t> result;
  for (int64_t p = 0; p < batches; ++p)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        int64_t sum = 0, b_start = b.dims.size() == 3 ? p * k * n : 0;
        for (int64_t d = 0; d < k; ++d)
          sum += at(a, (p * m + i) * k + d) * at(b, b_start + d * n + j);
        result.push_back(static_cast<int32_t>(sum));
      }
  return result;
}

std::string product_text(const std::string& a, const std::string& b, const std::string& c) {
  return "func.func @main(%a: " + a + ", %b: " + b + ") -> " + c +
         " {\n  %c = sv.matmul %a, %b : (" + a + ", " + b + ") -> " + c + "\n  return %c : " + c +
         "\n}\n";
}

// A graph that multiplies its input [m, k] by the constant `b` [k, n].
std::string constant_text_of(const Array& b) {
  std::string a = tensor_type("m, " + std::to_string(b.dims[0]), "u8");
  std::string c = tensor_type("m, " + std::to_string(b.dims[1]), "i32");
  return "func.func @main(%a: " + a + ") -> " + c + " {\n" + constant_text("b", b) +
         "  %c = sv.matmul %a, %b : (" + a + ", " + static_type(b) + ") -> " + c +
         "\n  return %c : " + c + "\n}\n";
}

class BytesOnEveryTarget : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string_view(GetParam()) == "x86-64-v4" && !runtime::cpu_has("avx512f"))
      GTEST_SKIP() << "this CPU has no AVX-512";
  }
};

TEST_P(BytesOnEveryTarget, ConstantBAtEveryRowCount) {
  // A depth of 4120 needs more than one depth block. Its kernel takes 12 s to compile_bytes for
  // x86-64, so this target skips it.
  const bool is_baseline = std::string_view(GetParam()) == "x86-64";
  for (int64_t k : is_baseline ? std::vector<int64_t>{67} : std::vector<int64_t>{67, 4120}) {
    Array b = bytes(DType::kI8, {k, 50}, 1);
    auto runner = compile_bytes(constant_text_of(b), GetParam());
    ASSERT_TRUE(runner);
    EXPECT_NE(runner->steps()[0].find("matmul_bytes"), std::string::npos) << runner->steps()[0];
    for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 25, 241}) {
      Array a = bytes(DType::kU8, {m, k}, 2);
      EXPECT_EQ(run_bytes(*runner, {a}).as<int32_t>(), expected(a, b)) << m << " x " << k;
    }
  }
}

TEST_P(BytesOnEveryTarget, DynamicOperands) {
  auto runner = compile_bytes(product_text(tensor_type("m, k", "u8"), tensor_type("k, n", "i8"),
                                           tensor_type("m, n", "i32")),
                              GetParam());
  ASSERT_TRUE(runner);
  struct {
    int64_t m, k, n;
  } sizes[] = {{1, 1, 1}, {3, 70, 31}, {26, 64, 26}, {13, 4099, 40},
               {5, 0, 3}, {0, 4, 4},   {2, 3, 0}};
  for (auto [m, k, n] : sizes) {
    Array a = bytes(DType::kU8, {m, k}, 3), b = bytes(DType::kI8, {k, n}, 4);
    EXPECT_EQ(run_bytes(*runner, {a, b}).as<int32_t>(), expected(a, b))
        << m << ", " << k << ", " << n;
  }
  // The largest products do not saturate.
  Array a = Array::of(DType::kU8, {2, 300}, std::vector<uint8_t>(600, 255));
  Array b = Array::of(DType::kI8, {300, 32}, std::vector<int8_t>(300 * 32, -128));
  EXPECT_EQ(run_bytes(*runner, {a, b}).as<int32_t>(), std::vector<int32_t>(64, 300 * 255 * -128));
}

// The host can have the dot-product instructions for bytes (VNNI). The other CPUs have none.
INSTANTIATE_TEST_SUITE_P(ByteMatMul, BytesOnEveryTarget,
                         ::testing::Values("host", "x86-64-v4", "x86-64-v3", "x86-64"));

TEST(ByteMatMul, Batches) {
  for (bool b_is_one : {false, true}) {
    auto runner = compile_bytes(product_text(tensor_type("p, m, k", "u8"),
                                             tensor_type(b_is_one ? "k, n" : "p, k, n", "i8"),
                                             tensor_type("p, m, n", "i32")));
    ASSERT_TRUE(runner);
    Array a = bytes(DType::kU8, {3, 5, 30}, 5);
    Array b = bytes(DType::kI8,
                    b_is_one ? std::vector<int64_t>{30, 33} : std::vector<int64_t>{3, 30, 33}, 6);
    EXPECT_EQ(run_bytes(*runner, {a, b}).as<int32_t>(), expected(a, b));
  }
}

TEST(ByteMatMul, EverySignedness) {
  for (DType a_type : {DType::kU8, DType::kI8})
    for (DType b_type : {DType::kU8, DType::kI8}) {
      std::string a_name(name(a_type)), b_name(name(b_type));
      auto runner = compile_bytes(product_text(
          tensor_type("m, k", a_name), tensor_type("k, n", b_name), tensor_type("m, n", "i32")));
      ASSERT_TRUE(runner);
      Array a = bytes(a_type, {7, 45}, 7), b = bytes(b_type, {45, 9}, 8);
      EXPECT_EQ(run_bytes(*runner, {a, b}).as<int32_t>(), expected(a, b)) << a_name << b_name;
    }
}

TEST(ByteMatMul, EpilogueEndsInBytes) {
  Array b = bytes(DType::kI8, {40, 50}, 9);
  std::string a = tensor_type("m, 40", "u8"), sums = tensor_type("m, 50", "i32"),
              reals = tensor_type("m, 50"), y = tensor_type("m, 50", "u8"), one = tensor_type("");
  std::string text = "func.func @main(%x: " + a + ", %s: " + one + ") -> " + y + " {\n" +
                     constant_text("w", b) + "  %g = sv.group (%a = %x : " + a +
                     ", %b = %w : " + static_type(b) + ", %c = %s : " + one + ") -> (" + y +
                     ") {\n    %0 = sv.matmul %a, %b : (" + a + ", " + static_type(b) + ") -> " +
                     sums + "\n    %1 = sv.cast %0 {to = \"f32\"} : (" + sums + ") -> " + reals +
                     "\n    %2 = sv.mul %1, %c : (" + reals + ", " + one + ") -> " + reals +
                     "\n    %3 = sv.round %2 : (" + reals + ") -> " + reals +
                     "\n    %4 = sv.cast %3 {to = \"u8\"} : (" + reals + ") -> " + y +
                     "\n    sv.yield %4 : " + y + "\n  }\n  return %g : " + y + "\n}\n";
  for (const char* cpu : {"host", "x86-64-v3", "x86-64"}) {
    auto runner = compile_bytes(text, cpu);
    ASSERT_TRUE(runner);
    Array x = bytes(DType::kU8, {15, 40}, 10);
    float scale = 1.0f / 512;
    std::vector<uint8_t> wanted;
    for (int32_t sum : expected(x, b))
      wanted.push_back(static_cast<uint8_t>(
          std::clamp(std::nearbyint(static_cast<float>(sum) * scale), 0.0f, 255.0f)));
    EXPECT_EQ(run_bytes(*runner, {x, Array::of<float>(DType::kF32, {}, {scale})}).as<uint8_t>(),
              wanted);
  }
}

}  // namespace
}  // namespace scopevm::compiler::testing
