// The vocabulary in which rows of opcodes.def say what an instruction requires and what it leaves
// in registers: rules.def as constants that rows name, with the fields that they refer to.
//
//   FIELD(dst, dst, makes_view(of, dtype, dims)) FIELD(src, of, holds_tensor)
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace scopevm::isa {

// What an argument of a rule is: a number, or the index of a field of the same row. The field must
// have the rules that the argument needs, or opcodes.cpp does not compile.
enum class Parameter : uint8_t {
  kNumber,
  kValue,      // a register read, whatever it holds
  kStorage,    // ... that must hold a storage
  kTensor,     // ... a tensor
  kList,       // ... a list
  kInt,        // a slot or an immediate
  kImmediate,  // an int that must be an immediate
  kInts,
  kTypes,
  kPool,
  kSource,  // a pool from which the instruction may allocate
  kKernel,
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

// A row of rules.def. `text` is that of docs/isa.md, with `{N}` for argument N.
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
