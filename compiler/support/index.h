// Strong index types of the compiler's tables, and vectors that accept one index type only.
#pragma once

#include <algorithm>
#include <optional>
#include <ranges>
#include <vector>

#include "vm/isa/index.h"

namespace scopevm::compiler {

// The tables of a module keep the compiler's numbering, so both use the same index types.
using isa::ConstantIndex;
using isa::FunctionIndex;
using isa::KernelIndex;
using isa::PoolIndex;
using isa::SlotIndex;

using DeviceIndex = isa::Index<struct DeviceTag>;    // Machine::devices
using SegmentIndex = isa::Index<struct SegmentTag>;  // Function::segments
using ValueId = isa::Index<struct ValueTag>;         // Function::values

// A vector whose elements are accessed by `Index`.
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
  // All indices, ascending. Elements that are added later are not included.
  auto indices() const {
    return std::views::iota(uint32_t{0}, next_index().value) |
           std::views::transform([](uint32_t value) { return Index{value}; });
  }
};

// The index of the first element that satisfies `is_match`; empty if there is none.
template <typename Index, typename T, typename Predicate>
std::optional<Index> find_index(const IndexedVector<Index, T>& items, Predicate is_match) {
  auto found = std::ranges::find_if(items, is_match);
  if (found == items.end()) return std::nullopt;
  return Index{static_cast<uint32_t>(found - items.begin())};
}

}  // namespace scopevm::compiler
