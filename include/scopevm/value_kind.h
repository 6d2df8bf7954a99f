/// @file
/// ValueKind: the kind of an input or output. Closures occur only between functions of a module,
/// not in the signature of `main`.
#pragma once

#include <cstdint>
#include <string_view>

namespace scopevm {

/// The numeric values are part of the module format: never renumber.
enum class ValueKind : uint8_t {
  kTensor = 0,
  kSequence = 1,
  kOptional = 2,
  kOptionalSequence = 3,
  kClosure = 4
};

/// Number of kinds.
inline constexpr int kValueKindCount = 5;

/// "tensor", "sequence", ...: the names used in assembly and messages.
constexpr std::string_view name(ValueKind kind) {
  constexpr std::string_view kNames[] = {"tensor", "sequence", "optional", "optional_sequence",
                                         "closure"};
  return static_cast<int>(kind) < kValueKindCount ? kNames[static_cast<int>(kind)] : "?";
}

/// List nesting depth of the VM's representation. An optional is a list of at most one element.
constexpr uint32_t list_depth(ValueKind kind) {
  if (kind == ValueKind::kTensor || kind == ValueKind::kClosure) return 0;
  return kind == ValueKind::kOptionalSequence ? 2 : 1;
}

/// True for an optional tensor or an optional sequence.
constexpr bool is_optional(ValueKind kind) {
  return kind == ValueKind::kOptional || kind == ValueKind::kOptionalSequence;
}

}  // namespace scopevm
