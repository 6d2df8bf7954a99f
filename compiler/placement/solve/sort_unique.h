// Sorts a list and removes duplicates.
#pragma once

#include <algorithm>

namespace scopevm::compiler::placement {

template <typename T>
void sort_unique(std::vector<T>& list) {
  std::ranges::sort(list);
  list.erase(std::ranges::unique(list).begin(), list.end());
}

}  // namespace scopevm::compiler::placement
