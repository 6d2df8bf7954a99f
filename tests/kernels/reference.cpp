// Implements reference.h.
#include "tests/kernels/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace scopevm::compiler::testing {

std::vector<double> reference_matmul(const Array& a, const Array& b, bool transpose_a,
                                     bool transpose_b) {
  std::vector<float> av = a.as<float>(), bv = b.as<float>();
  size_t rank = std::max(a.dims.size(), b.dims.size());
  auto padded = [&](const Array& array) {
    std::vector<int64_t> dims(rank - array.dims.size(), 1);
    dims.insert(dims.end(), array.dims.begin(), array.dims.end());
    return dims;
  };
  std::vector<int64_t> ad = padded(a), bd = padded(b);
  int64_t m = transpose_a ? ad[rank - 1] : ad[rank - 2],
          n = transpose_b ? bd[rank - 2] : bd[rank - 1];
  int64_t k = transpose_a ? ad[rank - 2] : ad[rank - 1];
  int64_t batches = 1;
  for (size_t axis = 0; axis + 2 < rank; ++axis) batches *= std::max(ad[axis], bd[axis]);
  std::vector<double> out(batches * m * n);
  for (int64_t batch = 0; batch < batches; ++batch) {
    int64_t rest = batch, a_at = 0, b_at = 0, a_stride = m * k, b_stride = k * n;
    for (size_t axis = rank - 2; axis-- > 0;) {
      int64_t dim = std::max(ad[axis], bd[axis]), coordinate = rest % dim;
      rest /= dim;
      if (ad[axis] != 1) a_at += coordinate * a_stride;
      if (bd[axis] != 1) b_at += coordinate * b_stride;
      a_stride *= ad[axis];
      b_stride *= bd[axis];
    }
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t p = 0; p < k; ++p)
          out[(batch * m + i) * n + j] +=
              static_cast<double>(av[a_at + (transpose_a ? p * m + i : i * k + p)]) *
              bv[b_at + (transpose_b ? j * k + p : p * n + j)];
  }
  return out;
}

std::vector<double> reference_conv(const Array& x, const Array& w, const ConvAttributes& t,
                                   std::vector<int64_t>& out_dims) {
  std::vector<float> xv = x.as<float>(), wv = w.as<float>();
  int64_t c = x.dims[1], h = x.dims[2], width = x.dims[3], m = w.dims[0], gc = w.dims[1];
  auto out_dim = [&](int axis) {
    int64_t reach = t.dilations[axis] * (w.dims[2 + axis] - 1) + 1;
    return (x.dims[2 + axis] + t.pads[axis] + t.pads[2 + axis] - reach) / t.strides[axis] + 1;
  };
  out_dims = {x.dims[0], m, out_dim(0), out_dim(1)};
  std::vector<double> out;
  for (int64_t n = 0; n < x.dims[0]; ++n)
    for (int64_t o = 0; o < m; ++o)
      for (int64_t y = 0; y < out_dims[2]; ++y)
        for (int64_t z = 0; z < out_dims[3]; ++z) {
          double sum = 0;
          for (int64_t i = 0; i < gc; ++i)
            for (int64_t ky = 0; ky < w.dims[2]; ++ky)
              for (int64_t kx = 0; kx < w.dims[3]; ++kx) {
                int64_t iy = y * t.strides[0] - t.pads[0] + ky * t.dilations[0];
                int64_t ix = z * t.strides[1] - t.pads[1] + kx * t.dilations[1];
                if (iy < 0 || iy >= h || ix < 0 || ix >= width) continue;
                int64_t channel = o / (m / t.group) * gc + i;
                sum += static_cast<double>(xv[((n * c + channel) * h + iy) * width + ix]) *
                       wv[((o * gc + i) * w.dims[2] + ky) * w.dims[3] + kx];
              }
          out.push_back(sum);
        }
  return out;
}

void expect_near(const Array& actual, const std::vector<double>& expected,
                 const std::string& what) {
  std::vector<float> values = actual.as<float>();
  ASSERT_EQ(values.size(), expected.size()) << what;
  int wrong = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double error = std::abs(values[i] - expected[i]);
    if (error <= 1e-4 || error <= 1e-4 * std::abs(expected[i])) continue;
    if (++wrong <= 4)
      ADD_FAILURE() << what << ": element " << i << " is " << values[i] << ", not " << expected[i];
  }
  EXPECT_EQ(wrong, 0) << what;
}

std::string tensor_type(const std::string& dims, const std::string& dtype) {
  return "!sv.tensor<" + dtype + "[" + dims + "]>";
}

std::string static_type(const Array& array) {
  std::string dims;
  for (int64_t dim : array.dims) dims += (dims.empty() ? "" : ", ") + std::to_string(dim);
  return tensor_type(dims, std::string(name(array.dtype)));
}

std::vector<Array> run_both(KernelRunner& actual, KernelRunner& expected,
                            const std::vector<Array>& inputs) {
  auto results = actual.run(inputs), references = expected.run(inputs);
  EXPECT_TRUE(results.ok()) << results.status().message();
  EXPECT_TRUE(references.ok()) << references.status().message();
  if (!results.ok() || !references.ok()) return {};
  EXPECT_EQ(results->size(), references->size());
  for (size_t i = 0; i < std::min(results->size(), references->size()); ++i) {
    const Array &result = (*results)[i], &reference = (*references)[i];
    EXPECT_EQ(result.dims, reference.dims);
    if (result.dims != reference.dims) return {};
    const std::vector<float> numbers = reference.as<float>();
    expect_near(result, {numbers.begin(), numbers.end()}, "result " + std::to_string(i));
  }
  return *std::move(results);
}

std::string constant_text(const std::string& name, const Array& array) {
  std::string text = "  %" + name + " = sv.constant {value = dense<\"0x";
  static const char* digits = "0123456789ABCDEF";
  for (uint8_t byte : array.bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  text += "\"> : tensor<";
  for (int64_t dim : array.dims) text += std::to_string(dim) + "x";
  const std::string element =
      array.dtype == DType::kU8 ? "ui8" : std::string(scopevm::name(array.dtype));
  return text + element + ">} : " + static_type(array) + "\n";
}

}  // namespace scopevm::compiler::testing
