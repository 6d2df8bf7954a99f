// DimExpr: a dimension as an integer expression over named symbols.
//
// Expressions are interned and normalised when built: a sum of products over atoms (symbols and
// irreducible floordiv, mod, min, max terms) in one canonical order. Equal polynomials are
// therefore the same object, and equality is one pointer comparison. `n*m+n` and `n*(1+m)` are
// equal; `floordiv(4*n, 2)` is `2*n`; `ceildiv(a, b)` is built as `floordiv(a + b - 1, b)`.
//
// A symbol may have known facts about its value (DimFacts), which normalisation uses. If n is at
// most 512 and a multiple of 8, `min(n, 512)` is `n` and `mod(n, 8)` is 0. Symbols with one name
// and different facts are different objects, so facts are attached where a function's symbols are
// created.
//
// Values are 64-bit. Symbols are dimensions and thus non-negative. Divisors are positive;
// evaluation fails otherwise. Normalisation relies on both: `floordiv(n*m, n)` is `m`. Constants
// never wrap: an operation that would overflow 64 bits is kept unsimplified and fails when
// evaluated. A product that would expand to thousands of nodes is also kept unsimplified.
//
// Ownership: interned objects live until the process ends. Thread-safety: all functions are
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/dtype.h"
#include "vm/format/schema/formula.h"

namespace scopevm::compiler {

// Known facts about a symbol's value, from `--dim` or from the op that defines it.
struct DimFacts {
  int64_t min = 0;
  int64_t max = INT64_MAX;
  int64_t multiple_of = 1;
  friend bool operator==(const DimFacts&, const DimFacts&) = default;
};

// The origin of a symbol's value. symbol_kind() derives it from the name.
enum class SymbolKind : uint8_t {
  kDimension,       // a dim of an input: "n"
  kRuntimeDefined,  // a value that is computed during the call: "$n"
  kThreads,         // the thread count of the session
};
inline constexpr char kThreadsSymbol[] = "$threads";
SymbolKind symbol_kind(std::string_view name);

// Inclusive bounds of a value.
struct DimInterval {
  int64_t min;
  int64_t max;
};

class DimExpr {
 public:
  // The operations are in the order of FormulaOp.
  enum class Kind : uint8_t { kConstant, kSymbol, kAdd, kMul, kFloorDiv, kMod, kMin, kMax };

  DimExpr();               // the constant 0
  DimExpr(int64_t value);  // NOLINT: implicit, because dims are often literals
  DimExpr(int value)
      : DimExpr(int64_t{value}) {}  // NOLINT: so that a literal 0 is not a null pointer
  static DimExpr symbol(std::string_view name, const DimFacts& facts = {});

  Kind kind() const;
  format::FormulaOp op() const;  // REQUIRES: kind() is neither kConstant nor kSymbol
  // None for kConstant and kSymbol. Dividend and divisor for kFloorDiv and kMod. Two or more for
  // the other kinds, in canonical order unless the expression was kept unsimplified.
  std::span<const DimExpr> operands() const;
  std::optional<int64_t> as_constant() const;
  bool is_constant() const { return as_constant().has_value(); }
  bool is_constant(int64_t value) const { return as_constant() == value; }
  std::string_view symbol_name() const;  // REQUIRES: kind() == kSymbol
  const DimFacts& facts() const;         // of a symbol; default facts for other kinds

  // Canonical form: `n`, `2*n+1`, `floordiv(n+15, 16)`, `max(m, n)`, `"batch size"*n`.
  std::string str() const;
  // Parses the grammar of formulas, which contains str(). Empty on a syntax error, for a number
  // beyond 64 bits, and for an expression nested more than 200 levels deep.
  static std::optional<DimExpr> parse(std::string_view text);

  // The symbols of the expression, without duplicates, ordered by name.
  std::vector<std::string> symbols() const;
  // Empty if a symbol has no value, a divisor is not positive, or the arithmetic overflows.
  std::optional<int64_t> evaluate(
      const std::function<std::optional<int64_t>(std::string_view)>& value_of) const;
  // Replaces symbols; symbols without a replacement are kept.
  DimExpr substitute(const std::function<std::optional<DimExpr>(std::string_view)>& with) const;

  friend bool operator==(DimExpr a, DimExpr b) { return a.node_ == b.node_; }
  // A total order by structure, the same in every run.
  friend bool operator<(DimExpr a, DimExpr b);
  friend DimExpr operator+(DimExpr a, DimExpr b);
  friend DimExpr operator-(DimExpr a, DimExpr b);
  friend DimExpr operator*(DimExpr a, DimExpr b);
  friend size_t hash_value(DimExpr e);

  struct Node;

 private:
  explicit DimExpr(const Node* node) : node_(node) {}
  const Node* node_;
  friend struct DimInterner;
};

// floordiv rounds towards minus infinity, ceildiv towards plus infinity, and mod is in [0, b).
// Their evaluation fails unless b > 0.
DimExpr floordiv(DimExpr a, DimExpr b);
DimExpr ceildiv(DimExpr a, DimExpr b);
DimExpr mod(DimExpr a, DimExpr b);
DimExpr min(DimExpr a, DimExpr b);
DimExpr max(DimExpr a, DimExpr b);
DimExpr apply(format::FormulaOp op, DimExpr a, DimExpr b);
// `a` rounded up to a multiple of `alignment`.
DimExpr round_up(DimExpr a, int64_t alignment);
// The product of all dims; 1 for none.
DimExpr element_count(std::span<const DimExpr> dims);
// The bytes of a tensor with `count` elements.
inline DimExpr byte_size(DType dtype, DimExpr count) {
  return ceildiv(count, elements_per_byte(dtype)) * DimExpr(byte_size(dtype));
}
// True if a symbol of `e` is runtime-defined: the value differs between calls with the same input
// dims.
bool is_runtime_defined(DimExpr e);
// True if it is proved that `e` is at least 0 for all values of the symbols that their facts allow.
bool is_never_negative(DimExpr e);
// Bounds of all values of `e`, saturated at the limits of int64.
DimInterval interval_of(DimExpr e);
// Bounds of the results of an operation, saturated at the limits of int64.
DimInterval apply(format::FormulaOp op, DimInterval a, DimInterval b);
// A divisor, at least 1, of all values of `e`.
int64_t known_factor(DimExpr e);

}  // namespace scopevm::compiler

template <>
struct std::hash<scopevm::compiler::DimExpr> {
  size_t operator()(scopevm::compiler::DimExpr e) const { return hash_value(e); }
};
