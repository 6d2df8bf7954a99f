// Computes reference results of contraction kernels with plain loops in double precision, and
// compares results with them. Also prints types and constants in MLIR assembly.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/kernels/kernel_runner.h"

namespace scopevm::compiler::testing {

// The product of `a` [..., m, k] and `b` [..., k, n], of rank 2 or more. The leading dims broadcast
// as in NumPy. A transposed operand has its last two dims swapped.
std::vector<double> reference_matmul(const Array& a, const Array& b, bool transpose_a,
                                     bool transpose_b);

struct ConvAttributes {
  std::vector<int64_t> strides, pads, dilations;
  int64_t group = 1;
};

// The 2-D convolution of `x` [batch, channels, height, width] with the weights `w` [result
// channels, channels / group, kernel height, kernel width]. Stores the dims of the result in
// `out_dims`.
std::vector<double> reference_conv(const Array& x, const Array& w, const ConvAttributes& attributes,
                                   std::vector<int64_t>& out_dims);

// Expects every element to be within 1e-4, absolute or relative.
void expect_near(const Array& actual, const std::vector<double>& expected, const std::string& what);

// Runs two graphs on the inputs, and expects the results to have equal dims and near elements.
// Returns those of the first graph; after an error, none.
std::vector<Array> run_both(KernelRunner& actual, KernelRunner& expected,
                            const std::vector<Array>& inputs);

// A constant with inline data: `sv.constant {value = dense<"0x..."> : tensor<...>}`.
std::string constant_text(const std::string& name, const Array& array);
// The type `!sv.tensor<f32[2, 3]>` for the dims "2, 3" and the dtype "f32".
std::string tensor_type(const std::string& dims, const std::string& dtype = "f32");
// The type of `array`, with constant dims.
std::string static_type(const Array& array);

}  // namespace scopevm::compiler::testing
