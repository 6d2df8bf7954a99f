// Arrays of the reference: every element is a wide number with an error bound. Also the scalar
// functions that propagate both.
//   reference.h      a graph -> its results
//   random_graph.h   a seed -> a graph and its inputs
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "scopevm/dtype.h"

namespace scopevm::compiler::property {

inline constexpr double kUnknown = std::numeric_limits<double>::infinity();

// `value` represents every i64, u64 and f64 exactly. The result of a correct program differs from
// it by at most `error`. With kUnknown every result is accepted (a comparison of two nearly equal
// sums, an overflow). Integers and bools have error 0 or kUnknown.
struct Number {
  long double value = 0;
  double error = 0;

  bool is_known() const { return error != kUnknown; }
  bool is_exact() const { return error == 0; }
};

inline constexpr Number kAnything{0, kUnknown};

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
// Advances to the next index in row-major order; false after the last.
bool advance(std::span<const int64_t> dims, Index& index);

// Calls visit(index) for every index of `dims`, in row-major order.
template <typename Visit>
void for_each_index(std::span<const int64_t> dims, Visit visit) {
  if (count_of(dims) == 0) return;
  Index index(dims.size(), 0);
  do visit(static_cast<const Index&>(index));
  while (advance(dims, index));
}

bool is_unsigned(DType dtype);  // bool included
// The range of an integer type. REQUIRES: not a float type.
long double lowest(DType dtype);
long double highest(DType dtype);

// unit(): the distance between adjacent floats at 1. smallest(): the minimum error of a result near
// 0.
double unit(DType dtype);
double smallest(DType dtype);
// The float of `dtype` nearest to `value`.
long double rounded(DType dtype, long double value);

// An integer modulo 2^width.
Number wrapped(DType dtype, __int128 value);
// A float result with `error`, the propagated error of its operands, plus `ulps` units in the last
// place for the op itself. A correctly rounded op (ulps 0) adds an error only if the result is not
// representable in the type.
Number result_of(DType dtype, long double value, double error, double ulps = 0);

// Conversion to and from the bytes of the type's format.
void encode(DType dtype, long double value, void* bytes);
long double decode(DType dtype, const void* bytes);

}  // namespace scopevm::compiler::property
