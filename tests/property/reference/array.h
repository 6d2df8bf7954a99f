// Arrays of the reference: every element as a wide number beside a bound on its error, and what a
// scalar op needs to keep both.
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

// `value` holds every i64, u64 and f64. What a correct program computes is at most `error` from it;
// kUnknown: anything goes (a comparison of two nearly equal sums, an overflow). Integers and bools
// have error 0 or kUnknown.
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
// The next index in row-major order; false behind the last.
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
// The range of an integer type; REQUIRES: not a float.
long double lowest(DType dtype);
long double highest(DType dtype);

// The distance of floats at 1, and the least error of a result near 0.
double unit(DType dtype);
double smallest(DType dtype);
// The float of `dtype` nearest to `value`.
long double rounded(DType dtype, long double value);

// An integer taken modulo two to the width.
Number wrapped(DType dtype, __int128 value);
// A float result with the error that its operands brought, and that of an op that errs by `ulps`
// units; an op that rounds correctly (ulps 0) errs only where the result is no float of the type.
Number result_of(DType dtype, long double value, double error, double ulps = 0);

// Bytes of the type's own format and back.
void encode(DType dtype, long double value, void* bytes);
long double decode(DType dtype, const void* bytes);

}  // namespace scopevm::compiler::property
