// A small module for three ranks, its inputs and its results.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/module.h"
#include "scopevm/session.h"
#include "tests/temporary_file.h"

namespace scopevm {

inline constexpr char kMachine[] = R"({
  "devices": [{"name": "cpu", "kind": "cpu"}, {"name": "one", "kind": "cpu", "rank": 1},
              {"name": "two", "kind": "cpu", "rank": 2}]})";

// Computes 2 * (x + 1) + x: the product on rank 2, of a sum on rank 1.
inline constexpr char kSum[] = R"(
func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %one = sv.constant {value = dense<1.0> : tensor<1xf32>} : !sv.tensor<f32[1]>
  %two = sv.constant {value = dense<2.0> : tensor<1xf32>} : !sv.tensor<f32[1]>
  %0 = sv.add %x, %one : (!sv.tensor<f32[n]>, !sv.tensor<f32[1]>) -> !sv.tensor<f32[n]>
  %1 = sv.mul %0, %two : (!sv.tensor<f32[n]>, !sv.tensor<f32[1]>) -> !sv.tensor<f32[n]>
  %2 = sv.sub %1, %x : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %2 : !sv.tensor<f32[n]>
})";

inline Module compiled(const std::string& text, std::vector<std::string> places,
                       const char* machine = kMachine) {
  const TemporaryFile file(text);
  CompileOptions options;
  options.model_path = file.path();
  options.machine_json = machine;
  options.places = std::move(places);
  options.threads = 1;
  auto output = compile(options);
  EXPECT_TRUE(output.ok()) << output.status().message();
  return *Module::load_bytes(output->module);
}

inline Module sum() { return compiled(kSum, {"type:add=one", "type:mul=two", "type:sub=one"}); }

inline Tensor numbers(int64_t count) {
  Tensor x = *Tensor::allocate(DType::kF32, std::array{count});
  for (int64_t i = 0; i < count; ++i) static_cast<float*>(x.data())[i] = static_cast<float>(i);
  return x;
}

// The results of kSum for numbers(count).
inline void expect_sum(const Result<std::vector<Tensor>>& results, int64_t count) {
  ASSERT_TRUE(results.ok()) << results.status().message();
  ASSERT_EQ(results->front().dims()[0], count);
  for (int64_t i = 0; i < count; ++i)
    ASSERT_EQ(static_cast<const float*>(results->front().data())[i], static_cast<float>(i) + 2);
}

}  // namespace scopevm
