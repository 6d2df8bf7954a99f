// Strong indices: integers with a type for each table.
#pragma once

#include <compare>
#include <cstdint>

namespace scopevm::isa {

// An index into one table. Indices of different tables have different types.
template <typename Tag>
struct Index {
  uint32_t value = 0;

  static constexpr Index from_word(uint32_t word) { return {word}; }
  constexpr uint32_t word() const { return value; }
  friend auto operator<=>(const Index&, const Index&) = default;
};

using RegisterIndex = Index<struct RegisterTag>;
using SlotIndex = Index<struct SlotTag>;
using FunctionIndex = Index<struct FunctionTag>;
using ShapeFunctionIndex = Index<struct ShapeFunctionTag>;
using KernelIndex = Index<struct KernelTag>;
using LaunchIndex = Index<struct LaunchTag>;
using ConstantIndex = Index<struct ConstantTag>;
using PoolIndex = Index<struct PoolTag>;
using MessageIndex = Index<struct MessageTag>;
using Target = Index<struct TargetTag>;  // word index of an instruction

}  // namespace scopevm::isa
