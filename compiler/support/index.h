// The indices of the compiler's tables, and vectors that only their own kind of index addresses.
#pragma once

#include <algorithm>
#include <optional>
#include <ranges>
#include <vector>

#include "vm/isa/index.h"

namespace scopevm::compiler {

// A module's tables keep the compiler's numbering, so these indices are the same types.
using isa::ConstantIndex;
using isa::FunctionIndex;
using isa::KernelIndex;
using isa::PoolIndex;
using isa::SlotIndex;

using DeviceIndex = isa::Index<struct DeviceTag>;    // Machine::devices
using SegmentIndex = isa::Index<struct SegmentTag>;  // Function::segments
using ValueId = isa::Index<struct ValueTag>;         // Function::values

// A vector that one kind of index addresses.
template <typename Index, typename T>
class IndexedVector : public std::vector<T> {
 public:
  using std::vector<T>::vector;

  // REQUIRES: the element exists.
  auto operator[](Index index) -> decltype(auto) { return std::vector<T>::operator[](index.value); }
  auto operator[](Index index) const -> decltype(auto) {
    return std::vector<T>::operator[](index.value);
  }

  // The index of the element that the next push_back adds.
  Index next_index() const { return {static_cast<uint32_t>(this->size())}; }
  // All indices, ascending. A view of the size at the time of the call.
  auto indices() const {
    return std::views::iota(uint32_t{0}, next_index().value) |
           std::views::transform([](uint32_t value) { return Index{value}; });
  }
};

// The index of the first element that satisfies `is_match`.
template <typename Index, typename T, typename Predicate>
std::optional<Index> find_index(const IndexedVector<Index, T>& items, Predicate is_match) {
  auto found = std::ranges::find_if(items, is_match);
  if (found == items.end()) return std::nullopt;
  return Index{static_cast<uint32_t>(found - items.begin())};
}

}  // namespace scopevm::compiler
