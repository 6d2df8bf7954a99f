// String tensors for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "scopevm/tensor.h"

namespace scopevm {

inline Tensor strings(const std::vector<int64_t>& dims, const std::vector<std::string>& elements) {
  return *Tensor::from_strings(std::vector<std::string_view>(elements.begin(), elements.end()),
                               dims);
}
inline Tensor strings(const std::vector<std::string>& elements) {
  return strings({static_cast<int64_t>(elements.size())}, elements);
}

inline std::vector<std::string> strings_of(const Tensor& tensor) {
  std::vector<std::string> elements;
  if (tensor.dtype() != DType::kStr) {
    ADD_FAILURE() << name(tensor.dtype()) << " elements";
    return elements;
  }
  for (int64_t i = 0; i < tensor.element_count(); ++i) elements.emplace_back(tensor.string_at(i));
  return elements;
}

}  // namespace scopevm
