// Products, convolutions and poolings of the reference.
#include <algorithm>

#include "tests/property/reference/reference.h"

namespace scopevm::compiler::property {
namespace {

// A sum of products in any order. Sums of small integers are exact. Otherwise, the rounding error
// of n products is at most n + 1 units of the sum of their magnitudes, plus two units of the
// result.
class DotProduct {
 public:
  explicit DotProduct(DType dtype) : dtype_(dtype) {}

  void add(const Number& a, const Number& b) {
    is_known_ = is_known_ && a.is_known() && b.is_known();
    if (!is_known_) return;
    if (!is_float(dtype_)) {
      whole_ += static_cast<__int128>(a.value) * static_cast<__int128>(b.value);
      return;
    }
    sum_ += a.value * b.value;
    magnitude_ += std::fabs(a.value * b.value);
    error_ += static_cast<double>(std::fabs(a.value) * b.error + std::fabs(b.value) * a.error) +
              a.error * b.error;
    is_whole_ = is_whole_ && a.is_exact() && b.is_exact() && std::trunc(a.value) == a.value &&
                std::trunc(b.value) == b.value;
    ++count_;
  }
  void add(const Number& x) { add(x, Number{1, 0}); }

  Number sum() const {
    if (!is_known_ || !std::isfinite(magnitude_)) return kAnything;
    if (!is_float(dtype_)) return wrapped(dtype_, whole_);
    if (is_whole_ && magnitude_ * unit(dtype_) < 0.5) return {sum_, 0};
    double order = (count_ + 1) * unit(dtype_) * static_cast<double>(magnitude_);
    return result_of(dtype_, sum_, error_ + order, 2);
  }

 private:
  DType dtype_;
  bool is_known_ = true, is_whole_ = true;
  __int128 whole_ = 0;
  long double sum_ = 0, magnitude_ = 0;
  double error_ = 0, count_ = 0;
};

// --- matmul. -------------------------------------------------------------------------------------

// A factor as a batch of matrices. A vector gets a leading dim of 1 if it is the left factor, else
// a trailing one. The last two dims of other transposed factors are swapped.
Array as_matrices(const Array& x, bool is_left, bool is_transposed) {
  Array matrices = x;
  if (x.rank() == 1) {
    matrices.dims.insert(is_left ? matrices.dims.begin() : matrices.dims.end(), 1);
    return matrices;
  }
  if (!is_transposed) return matrices;
  size_t last = x.dims.size() - 1;
  std::swap(matrices.dims[last], matrices.dims[last - 1]);
  size_t position = 0;
  for_each_index(matrices.dims, [&](Index index) {
    std::swap(index[last], index[last - 1]);
    matrices.elements[position++] = x.elements[static_cast<size_t>(offset_of(x.dims, index))];
  });
  return matrices;
}

Result<Arrays> matmul(const Operands& in) {
  if (in[0].rank() == 0 || in[1].rank() == 0) return refuse("a scalar has no matrix product");
  Array a = as_matrices(in[0], true, in.flag("transpose_a"));
  Array b = as_matrices(in[1], false, in.flag("transpose_b"));
  int64_t depth = a.dims.back();
  if (b.dims[b.dims.size() - 2] != depth) return refuse("inner dims differ");
  SCOPEVM_ASSIGN_OR_RETURN(
      std::vector<int64_t> dims,
      broadcast_of({{a.dims.begin(), a.dims.end() - 2}, {b.dims.begin(), b.dims.end() - 2}}));
  dims.push_back(a.dims[a.dims.size() - 2]);
  dims.push_back(b.dims.back());
  Array result = make_array(a.dtype, dims);
  size_t position = 0, row = dims.size() - 2, column = dims.size() - 1;
  for_each_index(dims, [&](const Index& index) {
    DotProduct dot(a.dtype);
    Index left = index, right = index;
    for (int64_t k = 0; k < depth; ++k) {
      left[column] = right[row] = k;
      dot.add(broadcast_element(a, left), broadcast_element(b, right));
    }
    result.elements[position++] = dot.sum();
  });
  if (in[1].rank() == 1) result.dims.erase(result.dims.begin() + static_cast<int64_t>(column));
  if (in[0].rank() == 1) result.dims.erase(result.dims.begin() + static_cast<int64_t>(row));
  return Arrays{std::move(result)};
}

// --- Windows. ------------------------------------------------------------------------------------

struct Window {
  std::vector<int64_t> kernel, strides, pads, dilations;

  size_t rank() const { return kernel.size(); }
  // The input index of tap k of the window at position p, along spatial axis i.
  int64_t source(size_t i, int64_t p, int64_t k) const {
    return p * strides[i] - pads[i] + k * dilations[i];
  }
  int64_t reach(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
};

Window window_of(const Operands& in, std::vector<int64_t> kernel) {
  return {std::move(kernel), in.integers("strides"), in.integers("pads"), in.integers("dilations")};
}

// Number of window positions along axis i of `size` elements, by enumeration.
Result<int64_t> positions(const Window& window, size_t i, int64_t size, bool ceil_mode) {
  int64_t end = size + window.pads[i] + window.pads[window.rank() + i];
  if (end < window.reach(i)) return refuse("the window is larger than the padded input");
  int64_t count = 1;
  while (count * window.strides[i] + window.reach(i) <= end) ++count;
  // ceil_mode adds a position that extends past the end, if it starts before the end padding.
  if (ceil_mode && (count - 1) * window.strides[i] + window.reach(i) < end &&
      count * window.strides[i] < size + window.pads[i])
    ++count;
  return count;
}

// Calls visit(tap, source, inside) for every tap of the window at spatial position `at`. `inside`
// is true if the source index is within `dims`.
template <typename Visit>
void for_each_tap(const Window& window, std::span<const int64_t> at, std::span<const int64_t> dims,
                  Visit visit) {
  for_each_index(window.kernel, [&](const Index& tap) {
    Index source(tap.size());
    bool inside = true;
    for (size_t i = 0; i < tap.size(); ++i) {
      source[i] = window.source(i, at[i], tap[i]);
      inside = inside && source[i] >= 0 && source[i] < dims[i];
    }
    visit(tap, source, inside);
  });
}

Index joined(int64_t first, int64_t second, std::span<const int64_t> rest) {
  Index index = {first, second};
  index.insert(index.end(), rest.begin(), rest.end());
  return index;
}

std::span<const int64_t> spatial(const std::vector<int64_t>& dims) {
  return std::span(dims).subspan(2);
}

Result<Arrays> conv(const Operands& in) {
  const Array &x = in[0], &w = in[1];
  int64_t group = in.integer("group"), depth = w.dims[1], channels = w.dims[0];
  if (x.dims[1] != depth * group || channels % group != 0)
    return refuse("the numbers of channels differ");
  bool has_bias = in.arrays.size() > 2;
  if (has_bias && in[2].dims != std::vector<int64_t>{channels})
    return refuse("the bias has another number of elements");
  Window window = window_of(in, {w.dims.begin() + 2, w.dims.end()});
  std::vector<int64_t> dims = {x.dims[0], channels};
  for (size_t i = 0; i < window.rank(); ++i) {
    if (window.kernel[i] == 0) return refuse("an empty window");
    SCOPEVM_ASSIGN_OR_RETURN(int64_t count, positions(window, i, x.dims[2 + i], false));
    dims.push_back(count);
  }
  const bool sums_bytes = x.dtype == DType::kU8 && w.dtype == DType::kI8;
  const DType dtype = sums_bytes ? DType::kI32 : x.dtype;
  Array result = make_array(dtype, dims);
  size_t position = 0;
  for_each_index(dims, [&](const Index& index) {
    DotProduct dot(dtype);
    int64_t first = channels == 0 ? 0 : index[1] / (channels / group) * depth;
    for (int64_t c = 0; c < depth; ++c)
      for_each_tap(window, spatial(index), spatial(x.dims),
                   [&](const Index& tap, const Index& source, bool inside) {
                     if (!inside) return;
                     dot.add(at(x, joined(index[0], first + c, source)),
                             at(w, joined(index[1], c, tap)));
                   });
    if (has_bias) dot.add(in[2].elements[static_cast<size_t>(index[1])]);
    result.elements[position++] = dot.sum();
  });
  return Arrays{std::move(result)};
}

Result<Arrays> conv_transpose(const Operands& in) {
  const Array &x = in[0], &w = in[1];
  int64_t group = in.integer("group"), depth = w.dims[1], channels = depth * group;
  if (x.dims[1] != w.dims[0] || x.dims[1] % group != 0)
    return refuse("the numbers of channels differ");
  bool has_bias = in.arrays.size() > 2;
  if (has_bias && in[2].dims != std::vector<int64_t>{channels})
    return refuse("the bias has another number of elements");
  Window window = window_of(in, {w.dims.begin() + 2, w.dims.end()});
  std::vector<int64_t> output_pads = in.integers("output_pads");
  std::vector<int64_t> dims = {x.dims[0], channels};
  for (size_t i = 0; i < window.rank(); ++i) {
    if (window.kernel[i] == 0 || x.dims[2 + i] == 0) return refuse("an empty window");
    dims.push_back((x.dims[2 + i] - 1) * window.strides[i] + output_pads[i] + window.reach(i) -
                   window.pads[i] - window.pads[window.rank() + i]);
    if (dims.back() < 0) return refuse("the pads exceed the result");
  }
  std::vector<DotProduct> sums(static_cast<size_t>(count_of(dims)), DotProduct(x.dtype));
  for_each_index(x.dims, [&](const Index& index) {
    int64_t first = index[1] / (x.dims[1] / group) * depth;
    for (int64_t m = 0; m < depth; ++m)
      for_each_tap(window, spatial(index), spatial(dims),
                   [&](const Index& tap, const Index& target, bool inside) {
                     if (!inside) return;
                     Index to = joined(index[0], first + m, target);
                     sums[static_cast<size_t>(offset_of(dims, to))].add(
                         at(x, index), at(w, joined(index[1], m, tap)));
                   });
  });
  Array result = make_array(x.dtype, dims);
  size_t position = 0;
  for_each_index(dims, [&](const Index& index) {
    if (has_bias) sums[position].add(in[2].elements[static_cast<size_t>(index[1])]);
    result.elements[position] = sums[position].sum();
    ++position;
  });
  return Arrays{std::move(result)};
}

Number greatest_of(const std::vector<Number>& x) {
  if (x.empty()) return kAnything;  // the window contains only padding
  Number best = x[0];
  double error = 0;
  for (const Number& n : x) {
    if (!n.is_known() || std::isnan(n.value)) return kAnything;
    if (n.value > best.value) best = n;
    error = std::max(error, n.error);
  }
  return {best.value, error};
}

Number pooled_mean(DType dtype, const std::vector<Number>& x, int64_t count) {
  if (count == 0) return kAnything;
  DotProduct dot(dtype);
  for (const Number& n : x) dot.add(n);
  Number sum = dot.sum();
  if (!sum.is_known()) return kAnything;
  auto n = static_cast<long double>(count);
  return result_of(dtype, sum.value / n, sum.error / static_cast<double>(count), 4);
}

Result<Arrays> pool(const Operands& in, bool is_mean) {
  const Array& x = in[0];
  Window window = window_of(in, in.integers("kernel"));
  std::vector<int64_t> dims = {x.dims[0], x.dims[1]};
  for (size_t i = 0; i < window.rank(); ++i) {
    SCOPEVM_ASSIGN_OR_RETURN(int64_t count,
                             positions(window, i, x.dims[2 + i], in.flag("ceil_mode")));
    dims.push_back(count);
  }
  bool count_pads = is_mean && in.flag("count_pads");
  Array result = make_array(x.dtype, dims);
  size_t position = 0;
  for_each_index(dims, [&](const Index& index) {
    std::vector<Number> covered;
    int64_t taps = 0;  // taps within the input and its padding
    for_each_tap(window, spatial(index), spatial(x.dims),
                 [&](const Index&, const Index& source, bool inside) {
                   bool in_pads = true;
                   for (size_t i = 0; i < source.size(); ++i)
                     in_pads =
                         in_pads && source[i] < x.dims[2 + i] + window.pads[window.rank() + i];
                   if (in_pads) ++taps;
                   if (inside) covered.push_back(at(x, joined(index[0], index[1], source)));
                 });
    int64_t count = count_pads ? taps : static_cast<int64_t>(covered.size());
    result.elements[position++] =
        is_mean ? pooled_mean(x.dtype, covered, count) : greatest_of(covered);
  });
  return Arrays{std::move(result)};
}

}  // namespace

std::optional<Result<Arrays>> evaluate_contraction(llvm::StringRef name, const Operands& in) {
  if (name == "matmul") return matmul(in);
  if (name == "conv") return conv(in);
  if (name == "conv_transpose") return conv_transpose(in);
  if (name == "max_pool" || name == "average_pool") return pool(in, name == "average_pool");
  return std::nullopt;
}

}  // namespace scopevm::compiler::property
