// Arrays of the reference interpreter: each element is a long double with an error bound. Also
// scalar functions that compute such elements and their error bounds.
//   reference.h      evaluates a graph on such arrays
//   random_graph.h   creates a graph and its inputs from a seed
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "scopevm/dtype.h"

namespace scopevm::compiler::property {

// The error bound of an element whose value the reference cannot predict.
inline constexpr double kUnknown = std::numeric_limits<double>::infinity();

// The type of `value` represents every i64, u64 and f64 exactly. The result of a correct program
// differs from it by at most `error`. If `error` is kUnknown, every result is accepted: for
// example, after an overflow, or for a comparison of two nearly equal sums. Integers and bools have
// error 0 or kUnknown.
struct Number {
  long double value = 0;
  double error = 0;

  bool is_known() const { return error != kUnknown; }
  bool is_exact() const { return error == 0; }
};

inline constexpr Number kAnything{0, kUnknown};

// An element of a small type (is_small) is the number of its bits.
struct Array {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  std::vector<Number> elements;  // row-major

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t count() const { return static_cast<int64_t>(elements.size()); }
};

using Index = std::vector<int64_t>;

int64_t count_of(std::span<const int64_t> dims);
Array make_array(DType dtype, std::vector<int64_t> dims);
// The row-major position of `index`.
int64_t offset_of(std::span<const int64_t> dims, std::span<const int64_t> index);
inline const Number& at(const Array& x, const Index& index) {
  return x.elements[static_cast<size_t>(offset_of(x.dims, index))];
}
// Advances to the next index in row-major order. Returns false after the last one.
bool advance(std::span<const int64_t> dims, Index& index);

// Calls visit(index) for every index of `dims`, in row-major order.
template <typename Visit>
void for_each_index(std::span<const int64_t> dims, Visit visit) {
  if (count_of(dims) == 0) return;
  Index index(dims.size(), 0);
  do visit(static_cast<const Index&>(index));
  while (advance(dims, index));
}

// The range of an integer type. REQUIRES: not a float type.
long double lowest(DType dtype);
long double highest(DType dtype);

// The distance from 1 to the next larger number of a float type; 0 for other types.
double unit(DType dtype);
// The absolute error of a result near 0, where subnormal numbers may be flushed to zero.
double smallest(DType dtype);
// The float of `dtype` nearest to `value`.
long double rounded(DType dtype, long double value);

// `value` modulo 2^width, where width is the number of bits of `dtype`. For bool: value != 0.
Number wrapped(DType dtype, __int128 value);
// A float result. Its error is the sum of `error`, which its operands cause, and the error of the
// op itself: `ulps` units in the last place. With `ulps` 0 the op is correctly rounded: its own
// error is 0 if the operands are exact and `dtype` represents the result, else one unit. The result
// is unknown if `error` is kUnknown, or if the result may overflow.
Number result_of(DType dtype, long double value, double error, double ulps = 0);

// The number of bits of an element; 1 for bool.
int bits_of(DType dtype);

// Convert between the number at index `i` of an array and its bytes in memory, in the format of
// `dtype`. REQUIRES of encode(): the bits of elements that share a byte are 0 before.
void encode(DType dtype, long double value, void* bytes, size_t i = 0);
long double decode(DType dtype, const void* bytes, size_t i = 0);

}  // namespace scopevm::compiler::property
