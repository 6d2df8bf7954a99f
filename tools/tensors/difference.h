// Compares two tensors, element by element.
#pragma once

#include <cstdint>
#include <optional>

#include "scopevm/tensor.h"

namespace scopevm::tool {

// An element e of the first tensor and f of the second one agree if they are equal, both NaN, at
// most `ulp` units in the last place apart, or |e - f| <= absolute + relative * |f|.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  uint64_t ulp = 0;
};

// The largest value of a measure, and the row-major index of the first element that has it.
template <typename T>
struct Largest {
  T value{};
  int64_t index = 0;
};

// The measures include equal elements and omit those with a NaN or an infinity, except if both are
// the same infinity. They are 0 for strings.
struct TensorDifference {
  bool has_equal_dtypes = true;
  bool has_equal_shapes = true;  // if false, the elements are not compared, and all counts are 0
  int64_t elements = 0;
  int64_t different = 0;  // elements that are not equal; NaNs are equal
  Largest<double> absolute;
  Largest<double> relative;              // |e - f| / |f|; infinite if only f is 0
  std::optional<Largest<uint64_t>> ulp;  // for floats of one type
  int64_t nans_of_first = 0, nans_of_second = 0;
  // The elements that do not agree. The first one is the element of smallest index.
  int64_t outside = 0;
  std::optional<int64_t> first_outside;

  bool is_within() const { return has_equal_dtypes && has_equal_shapes && outside == 0; }
};

TensorDifference compare_tensors(const Tensor& first, const Tensor& second,
                                 const Tolerance& tolerance);

// The row-major index of the first element whose bits or whose string differ; no value if there is
// none. REQUIRES: equal types and dims.
std::optional<int64_t> first_unequal_element(const Tensor& first, const Tensor& second);

}  // namespace scopevm::tool
