// Reductions of the reference, and ops that normalise or accumulate along an axis.
#include <algorithm>
#include <functional>
#include <numeric>

#include "tests/property/reference/reference.h"

namespace scopevm::compiler::property {
namespace {

using Numbers = std::vector<Number>;

bool all_known(const Numbers& x) {
  return std::all_of(x.begin(), x.end(), [](const Number& n) { return n.is_known(); });
}
bool all_finite(const Numbers& x) {
  return std::all_of(x.begin(), x.end(),
                     [](const Number& n) { return n.is_known() && std::isfinite(n.value); });
}
double greatest_error(const Numbers& x) {
  double error = 0;
  for (const Number& n : x) error = std::max(error, n.error);
  return error;
}

// A sum in any order. Sums of small integers are exact. Otherwise, the rounding error of n > 1
// elements is at most n units of the sum of their magnitudes, plus two units of the result.
Number sum_of(DType dtype, const Numbers& x) {
  if (!all_known(x)) return kAnything;
  if (!is_float(dtype)) {
    __int128 sum = 0;
    for (const Number& n : x) sum += static_cast<__int128>(n.value);
    return wrapped(dtype, sum);
  }
  long double sum = 0, magnitude = 0;
  double error = 0;
  bool is_whole = true;
  for (const Number& n : x) {
    sum += n.value;
    magnitude += std::fabs(n.value);
    error += n.error;
    is_whole = is_whole && n.is_exact() && std::trunc(n.value) == n.value;
  }
  if (!std::isfinite(magnitude)) return x.size() == 1 ? x[0] : kAnything;
  if (is_whole && magnitude * unit(dtype) < 0.5) return {sum, 0};
  double order = static_cast<double>(x.size()) * unit(dtype) * static_cast<double>(magnitude);
  return result_of(dtype, sum, error + (x.size() > 1 ? order : 0), x.size() > 1 ? 2 : 0);
}

Number mean_of(DType dtype, const Numbers& x) {
  // The sum of integers has 64 bits.
  const DType wide = is_float(dtype) ? dtype : is_unsigned(dtype) ? DType::kU64 : DType::kI64;
  Number sum = sum_of(wide, x);
  if (!sum.is_known() || x.empty()) return kAnything;
  if (!is_float(dtype))
    return wrapped(dtype, static_cast<__int128>(sum.value) / static_cast<__int128>(x.size()));
  auto n = static_cast<long double>(x.size());
  // 4 units, because some kernels multiply by 1/n.
  return result_of(dtype, sum.value / n, sum.error / static_cast<double>(n), x.size() > 1 ? 4 : 0);
}

Number product_of(DType dtype, const Numbers& x) {
  if (!all_known(x)) return kAnything;
  if (!is_float(dtype)) {
    // A product of two u64 exceeds the signed type.
    const auto bits = [](const Number& n) {
      return static_cast<unsigned __int128>(static_cast<__int128>(n.value));
    };
    Number product{1, 0};
    for (const Number& n : x)
      product = wrapped(dtype, static_cast<__int128>(bits(product) * bits(n)));
    return product;
  }
  long double product = 1, above = 1;
  for (const Number& n : x) {
    product *= n.value;
    above *= std::fabs(n.value) + n.error;
  }
  if (x.size() == 1) return x[0];
  if (!std::isfinite(rounded(dtype, above * 2))) return kAnything;
  // Partial products may overflow or underflow although the whole product does not.
  long double most = 1, least = 1;
  for (const Number& n : x) {
    most *= std::max<long double>(std::fabs(n.value) + n.error, 1);
    if (n.value != 0) least *= std::min<long double>(std::fabs(n.value), 1);
  }
  const long double lowest_exact = dtype == DType::kF16 ? 1e-4L : 1e-30L;
  if (!std::isfinite(rounded(dtype, most * 2)) || least < lowest_exact) return kAnything;
  auto error = static_cast<double>(above - std::fabs(product));
  return result_of(dtype, product, error * 1.001, static_cast<double>(x.size()));
}

Number extreme_of(DType dtype, const Numbers& x, bool greatest) {
  if (!all_known(x)) return kAnything;
  if (x.empty()) {  // empty: the neutral element
    if (!is_float(dtype)) return {greatest ? lowest(dtype) : highest(dtype), 0};
    return {greatest ? -HUGE_VALL : HUGE_VALL, 0};
  }
  Number best = x[0];
  for (const Number& n : x) {
    if (std::isnan(n.value)) return n.is_exact() ? n : kAnything;
    if (greatest ? n.value > best.value : n.value < best.value) best = n;
  }
  // Include all elements that may be the extremum within their errors.
  double error = best.error;
  for (const Number& n : x)
    if (std::fabs(n.value - best.value) <= n.error + best.error) error = std::max(error, n.error);
  return {best.value, error};
}

using Reduce = std::function<Number(DType, const Numbers&)>;

Result<Arrays> reduce(const Operands& in, const Reduce& combine) {
  const Array& x = in[0];
  std::vector<int64_t> axes = in.integers("axes");
  auto is_reduced = [&](size_t axis) {
    return std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
  };
  std::vector<int64_t> kept = x.dims, visible;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    if (is_reduced(i)) kept[i] = 1;
    if (!is_reduced(i) || in.flag("keep_dims")) visible.push_back(kept[i]);
  }
  std::vector<Numbers> parts(static_cast<size_t>(count_of(kept)));
  size_t position = 0;
  for_each_index(x.dims, [&](Index index) {
    for (size_t i = 0; i < index.size(); ++i)
      if (kept[i] == 1) index[i] = 0;
    parts[static_cast<size_t>(offset_of(kept, index))].push_back(x.elements[position++]);
  });
  Array result = make_array(x.dtype, visible);
  for (size_t i = 0; i < parts.size(); ++i) result.elements[i] = combine(x.dtype, parts[i]);
  return Arrays{std::move(result)};
}

// Calls the visitor with the element positions of every line of x along `axis`.
template <typename Visit>
void for_each_line(const Array& x, size_t axis, Visit visit) {
  std::vector<int64_t> starts = x.dims;
  starts[axis] = 1;
  std::vector<size_t> positions(static_cast<size_t>(x.dims[axis]));
  for_each_index(starts, [&](Index index) {
    for (size_t k = 0; k < positions.size(); ++k) {
      index[axis] = static_cast<int64_t>(k);
      positions[k] = static_cast<size_t>(offset_of(x.dims, index));
    }
    visit(positions);
  });
}

Numbers elements_at(const Array& x, const std::vector<size_t>& positions) {
  Numbers numbers;
  for (size_t position : positions) numbers.push_back(x.elements[position]);
  return numbers;
}

// The position of the maximum, or of the minimum if `greatest` is false. `last` selects the last of
// several equal elements. The position is unknown if an element is NaN, or if another element can
// be the extremum within its error.
Number arg_extreme(const Numbers& x, bool greatest, bool last) {
  if (!all_known(x)) return kAnything;
  size_t best = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i].value)) return kAnything;
    bool ahead = greatest ? x[i].value > x[best].value : x[i].value < x[best].value;
    if (ahead || (last && x[i].value == x[best].value)) best = i;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    double error = x[i].error + x[best].error;
    if (i != best && error > 0 && std::fabs(x[i].value - x[best].value) <= error) return kAnything;
  }
  return {static_cast<long double>(best), 0};
}

Result<Arrays> arg_reduce(const Operands& in, bool greatest) {
  const Array& x = in[0];
  auto axis = static_cast<size_t>(in.integer("axis"));
  if (x.dims[axis] == 0) return refuse("no elements to choose from");
  std::vector<int64_t> dims = x.dims;
  if (in.flag("keep_dims"))
    dims[axis] = 1;
  else
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  Array result = make_array(DType::kI64, dims);
  size_t position = 0;
  bool last = in.flag("last");
  for_each_line(x, axis, [&](const std::vector<size_t>& line) {
    result.elements[position++] = arg_extreme(elements_at(x, line), greatest, last);
  });
  return Arrays{std::move(result)};
}

void softmax_line(DType dtype, Numbers& x, bool is_log) {
  if (!all_finite(x)) return x.assign(x.size(), kAnything);
  long double greatest = -HUGE_VALL, sum = 0;
  for (const Number& n : x) greatest = std::max(greatest, n.value);
  for (const Number& n : x) sum += std::exp(n.value - greatest);
  double errors = 2 * greatest_error(x), own = (static_cast<double>(x.size()) + 16) * unit(dtype);
  for (Number& n : x) {
    long double distance = n.value - greatest;
    double size = static_cast<double>(std::fabs(distance) + std::fabs(greatest));
    if (is_log) {
      n = result_of(dtype, distance - std::log(sum), errors + own + size * 2 * unit(dtype), 4);
    } else {
      double exponent = errors + size * unit(dtype);
      n = result_of(dtype, std::exp(distance) / sum,
                    static_cast<double>(std::exp(distance) / sum) * (std::expm1(exponent) + own),
                    4);
    }
  }
}

// Replaces each number by the sum or product of those up to it.
void accumulate(DType dtype, Numbers& x, bool is_product, bool exclusive, bool reverse) {
  Numbers seen, sums(x.size());
  for (size_t k = 0; k < x.size(); ++k) {
    size_t i = reverse ? x.size() - 1 - k : k;
    if (!exclusive) seen.push_back(x[i]);
    sums[i] = is_product ? product_of(dtype, seen) : sum_of(dtype, seen);
    if (exclusive) seen.push_back(x[i]);
  }
  x = std::move(sums);
}

template <typename Change>
Result<Arrays> along_axis(const Operands& in, Change change) {
  Array result = in[0];
  for_each_line(in[0], static_cast<size_t>(in.integer("axis")),
                [&](const std::vector<size_t>& line) {
                  Numbers numbers = elements_at(in[0], line);
                  change(numbers);
                  for (size_t k = 0; k < line.size(); ++k) result.elements[line[k]] = numbers[k];
                });
  return Arrays{std::move(result)};
}

// (x - mean) / sqrt(variance + epsilon), with error propagation.
void normalise(DType dtype, Numbers& x, double epsilon) {
  if (!all_finite(x)) return x.assign(x.size(), kAnything);
  auto n = static_cast<long double>(x.size());
  Number mean = mean_of(dtype, x);
  long double variance = 0, squares = 0;
  double variance_error = 0;
  for (const Number& e : x) {
    long double centred = e.value - mean.value;
    double error = e.error + mean.error;
    variance += centred * centred / n;
    squares += e.value * e.value / n;
    variance_error += static_cast<double>(
        (2 * std::fabs(centred) * error + static_cast<long double>(error) * error) / n);
  }
  // The bound also holds for a kernel that computes the mean of squares minus the squared mean.
  variance_error += static_cast<double>((n + 8) * unit(dtype) * squares);
  long double safe = variance + epsilon - variance_error;
  // A kernel's sum of squares may overflow although the result does not.
  bool may_overflow = n * squares > highest(dtype == DType::kF64 ? dtype : DType::kF32) / 2;
  if (!(safe > 0) || may_overflow) return x.assign(x.size(), kAnything);
  long double deviation = std::sqrt(variance + epsilon);
  auto relative = static_cast<double>(variance_error / safe) + 8 * unit(dtype);
  for (Number& e : x) {
    long double value = (e.value - mean.value) / deviation;
    auto error =
        static_cast<double>((e.error + mean.error) / std::sqrt(safe) + std::fabs(value) * relative);
    e = result_of(dtype, value, error, 8);
  }
}

Number scaled(DType dtype, const Number& x, const Number& scale, const Number* bias) {
  if (!x.is_known() || !scale.is_known() || (bias && !bias->is_known())) return kAnything;
  long double value = x.value * scale.value + (bias ? bias->value : 0);
  double error =
      static_cast<double>(std::fabs(x.value) * scale.error + std::fabs(scale.value) * x.error) +
      x.error * scale.error + (bias ? bias->error : 0) +
      static_cast<double>(std::fabs(x.value * scale.value)) * 4 * unit(dtype);
  return result_of(dtype, value, error, 4);
}

Result<Arrays> layer_norm(const Operands& in) {
  Array x = in[0];
  auto axis = static_cast<size_t>(in.integer("axis"));
  int64_t row = count_of(std::span(x.dims).subspan(axis));
  for (int64_t start = 0; row > 0 && start < x.count(); start += row) {
    Numbers numbers(x.elements.begin() + start, x.elements.begin() + start + row);
    normalise(x.dtype, numbers, in.real("epsilon"));
    std::copy(numbers.begin(), numbers.end(), x.elements.begin() + start);
  }
  size_t position = 0;
  bool has_bias = in.arrays.size() > 2;
  SCOPEVM_ASSIGN_OR_RETURN(auto dims, broadcast_of({x.dims, in[1].dims}));
  if (dims != x.dims) return refuse("scale has other dims");
  for_each_index(x.dims, [&](const Index& index) {
    const Number* bias = has_bias ? &broadcast_element(in[2], index) : nullptr;
    Number& element = x.elements[position++];
    element = scaled(x.dtype, element, broadcast_element(in[1], index), bias);
  });
  return Arrays{std::move(x)};
}

}  // namespace

std::optional<Result<Arrays>> evaluate_reduction(llvm::StringRef name, const Operands& in) {
  if (name == "reduce_sum") return reduce(in, sum_of);
  if (name == "reduce_mean") return reduce(in, mean_of);
  if (name == "reduce_prod") return reduce(in, product_of);
  if (name == "reduce_max" || name == "reduce_min")
    return reduce(in, [&](DType dtype, const Numbers& x) {
      return extreme_of(dtype, x, name == "reduce_max");
    });
  if (name == "arg_max" || name == "arg_min") return arg_reduce(in, name == "arg_max");
  if (name == "softmax" || name == "log_softmax")
    return along_axis(in, [&](Numbers& x) { softmax_line(in[0].dtype, x, name == "log_softmax"); });
  if (name == "cum_sum" || name == "cum_prod")
    return along_axis(in, [&](Numbers& x) {
      accumulate(in[0].dtype, x, name == "cum_prod", in.flag("exclusive"), in.flag("reverse"));
    });
  if (name == "layer_norm") return layer_norm(in);
  return std::nullopt;
}

}  // namespace scopevm::compiler::property
