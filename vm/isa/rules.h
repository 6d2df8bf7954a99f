// The rules of rules.def, which are preconditions and postconditions of instructions. Each row of
// rules.def is a constant here. The rows of opcodes.def apply these constants to their fields:
//
//   FIELD(dst, dst, makes_view(of, dtype, dims)) FIELD(src, of, holds_tensor)
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace scopevm::isa {

// The type of a rule's argument: a number, or the index of a field of the same opcode row. The
// comments or the names say what that field must be; opcodes.cpp checks it at compile time.
enum class Parameter : uint8_t {
  kNumber,
  kValue,      // a register that is read, with any value
  kStorage,    // a register that is read and holds a storage
  kTensor,     // a register that is read and holds a tensor
  kList,       // a register that is read and holds a list
  kInt,        // a slot or an immediate
  kImmediate,  // an int that must be an immediate
  kInts,
  kTypes,
  kPool,
  kSource,  // a pool from which the instruction can allocate
  kLaunch,
  kConstant,
  kFunction,
  kShapeFunction,
  kDType,
};

enum class RuleKind : uint8_t {
#define RULE(form, name, ...) name,
#include "vm/isa/rules.def"
};
enum class DefinitionKind : uint8_t {
#define DEFINITION(name, ...) name,
#include "vm/isa/rules.def"
};
enum class Trait : uint8_t {
#define TRAIT_ROW(name, text) name,
#include "vm/isa/rules.def"
};

inline constexpr size_t kMaxArguments = 5;

// A rule or a definition with its arguments.
template <typename Kind>
struct Term {
  Kind kind = {};
  uint8_t argument_count = 0;
  std::array<uint8_t, kMaxArguments> arguments = {};

  template <typename... Arguments>
  constexpr Term operator()(Arguments... given) const {
    static_assert(sizeof...(given) <= kMaxArguments);
    return {kind, sizeof...(given), {static_cast<uint8_t>(given)...}};
  }
};
using Rule = Term<RuleKind>;
using Definition = Term<DefinitionKind>;

namespace vocabulary {
#define RULE(form, name, ...) inline constexpr Rule name{RuleKind::name};
#define DEFINITION(name, ...) inline constexpr Definition name{DefinitionKind::name};
#include "vm/isa/rules.def"
}  // namespace vocabulary

constexpr uint32_t trait_bit(Trait trait) { return uint32_t{1} << static_cast<uint8_t>(trait); }

// A row of rules.def. `text` is its description in docs/isa.md, with `{N}` for argument N.
struct TermRow {
  std::string_view name;
  std::string_view text;
  std::span<const Parameter> parameters;
};
const TermRow& term_row(RuleKind kind);
const TermRow& term_row(DefinitionKind kind);
std::string_view name(Trait trait);
std::string_view explanation(Trait trait);

}  // namespace scopevm::isa
