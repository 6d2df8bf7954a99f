// Finds inputs and outputs of a signature by their names.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "scopevm/module.h"

namespace scopevm::serve {

// The input or output of this name; null if there is none.
inline const TensorSignature* find_tensor(const std::vector<TensorSignature>& tensors,
                                          std::string_view name) {
  const auto found = std::ranges::find(tensors, name, &TensorSignature::name);
  return found != tensors.end() ? &*found : nullptr;
}

}  // namespace scopevm::serve
