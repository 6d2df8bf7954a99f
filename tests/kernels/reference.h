// Reference results of contraction kernels, by plain loops in double precision, and the comparison
// with them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/kernels/kernel_runner.h"

namespace scopevm::compiler::testing {

// [b0, b1, ..., m, k] x [b0, b1, ..., k, n] with NumPy broadcasting; both of rank 2 or more.
std::vector<double> reference_matmul(const Array& a, const Array& b, bool transpose_a,
                                     bool transpose_b);

struct ConvAttributes {
  std::vector<int64_t> strides, pads, dilations;
  int64_t group = 1;
};

// 2-D convolution: x [n, c, h, w], w [m, c / group, kh, kw].
std::vector<double> reference_conv(const Array& x, const Array& w, const ConvAttributes& attributes,
                                   std::vector<int64_t>& out_dims);

// Expects every element to be within 1e-4, absolute or relative.
void expect_near(const Array& actual, const std::vector<double>& expected, const std::string& what);

// A constant with inline data: `sv.constant {value = dense<"0x..."> : tensor<...>}`.
std::string constant_text(const std::string& name, const Array& array);
// The type of the given dims: "f32[2, 3]".
std::string tensor_type(const std::string& dims, const std::string& dtype = "f32");
std::string static_type(const Array& array);

}  // namespace scopevm::compiler::testing
