// Compares iota and dims_tensor with their definitions.
#include "tests/kernels/oracle.h"

namespace scopevm::compiler::testing {
namespace {

// Compiles `function` (MLIR assembly) and runs it once.
std::vector<Array> run(const std::string& function, const std::vector<Array>& inputs) {
  auto runner = KernelRunner::create(function);
  if (!runner.ok()) {
    ADD_FAILURE() << runner.status().message();
    return {};
  }
  auto outputs = (*runner)->run(inputs);
  if (outputs.ok()) return std::move(*outputs);
  ADD_FAILURE() << outputs.status().message();
  return {};
}

TEST(Iota, IntegersAndFloats) {
  auto outputs = run(R"(
    func.func @main(%x: !sv.tensor<f32[n]>)
        -> (!sv.tensor<i64[n]>, !sv.tensor<f32["n+1"]>, !sv.tensor<f64[3]>) {
      %a = sv.iota {size = #sv.dims<[n]>, start = 5 : i64, step = -2 : i64, dtype = "i64"}
          : () -> !sv.tensor<i64[n]>
      %b = sv.iota {size = #sv.dims<["n+1"]>, start = 0.5 : f32, step = 0.25 : f32, dtype = "f32"}
          : () -> !sv.tensor<f32["n+1"]>
      %c = sv.iota {size = #sv.dims<[3]>, start = 1.0 : f64, step = 3.0 : f64, dtype = "f64"}
          : () -> !sv.tensor<f64[3]>
      return %a, %b, %c : !sv.tensor<i64[n]>, !sv.tensor<f32["n+1"]>, !sv.tensor<f64[3]>
    })",
                     {random_f32({9}, 1)});
  ASSERT_EQ(outputs.size(), 3u);
  auto a = outputs[0].as<int64_t>();
  auto b = outputs[1].as<float>();
  for (int64_t i = 0; i < 9; ++i) EXPECT_EQ(a[i], 5 - 2 * i);
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(b[i], 0.5f + 0.25f * static_cast<float>(i));
  EXPECT_EQ(outputs[2].as<double>(), (std::vector<double>{1, 4, 7}));
}

TEST(DimsTensor, ListScalarAndOtherType) {
  auto outputs = run(R"(
    func.func @main(%x: !sv.tensor<f32[n, m]>)
        -> (!sv.tensor<i64[3]>, !sv.tensor<i64[]>, !sv.tensor<f32[1]>) {
      %a = sv.dims_tensor {dims = #sv.dims<[n, "n*m", 12]>} : () -> !sv.tensor<i64[3]>
      %b = sv.dims_tensor {dims = #sv.dims<["m+1"]>, scalar = true} : () -> !sv.tensor<i64[]>
      %c = sv.dims_tensor {dims = #sv.dims<[m]>, dtype = "f32"} : () -> !sv.tensor<f32[1]>
      return %a, %b, %c : !sv.tensor<i64[3]>, !sv.tensor<i64[]>, !sv.tensor<f32[1]>
    })",
                     {random_f32({4, 6}, 1)});
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(outputs[0].as<int64_t>(), (std::vector<int64_t>{4, 24, 12}));
  EXPECT_EQ(outputs[1].as<int64_t>(), (std::vector<int64_t>{7}));
  EXPECT_EQ(outputs[2].as<float>(), (std::vector<float>{6}));
}

}  // namespace
}  // namespace scopevm::compiler::testing
