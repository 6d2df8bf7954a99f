// Formulas over dims (scopevm/formula.h), which signatures and reports of modules contain:
//   sum     := product (('+' | '-') product)*
//   product := factor ('*' factor)*
//   factor  := '-' factor | integer | name | function '(' sum ',' sum (',' sum)* ')' | '(' sum ')'
// The functions are floordiv, ceildiv, mod, min and max; only min and max take more than two sums.
// runtime/name_text.h has the form of names.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/name_text.h"

namespace scopevm::format {

// Rounds towards minus infinity. REQUIRES: b > 0.
constexpr int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
constexpr int64_t floor_modulo(int64_t a, int64_t b) { return a % b < 0 ? a % b + b : a % b; }

enum class FormulaOp : uint8_t { kAdd, kMul, kFloorDiv, kMod, kMin, kMax };

// No value on overflow and for a divisor below 1.
inline std::optional<int64_t> apply(FormulaOp op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case FormulaOp::kAdd:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case FormulaOp::kMul:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case FormulaOp::kFloorDiv:
      return b < 1 ? std::nullopt : std::optional(floor_divide(a, b));
    case FormulaOp::kMod:
      return b < 1 ? std::nullopt : std::optional(floor_modulo(a, b));
    case FormulaOp::kMin:
      return std::min(a, b);
    case FormulaOp::kMax:
      return std::max(a, b);
  }
  return std::nullopt;
}

// Parses a formula by recursive descent and evaluates it in an algebra, which has
//   using Value = ...                                     constructible from int64_t
//   std::optional<Value> symbol(std::string_view name)    the value of a name
//   std::optional<Value> apply(FormulaOp op, Value a, Value b)
// Other operations are composed: a - b is a + b*-1, and ceildiv(a, b) is floordiv(a + b - 1, b).
template <typename Algebra>
class FormulaParser {
 public:
  using Value = std::optional<typename Algebra::Value>;

  FormulaParser(std::string_view text, Algebra algebra) : text_(text), algebra_(algebra) {}

  // No value on a syntax error, for a number beyond 64 bits, for an expression nested more than 200
  // levels deep, and if the algebra has none.
  Value parse() {
    const Value result = sum();
    skip_space();
    return at_ == text_.size() ? result : std::nullopt;
  }

 private:
  // Deeper nesting is rejected, because the parser recurses. Real shapes are far below this depth.
  static constexpr int kMaxDepth = 200;

  static bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Value apply(FormulaOp op, Value a, Value b) {
    return a && b ? algebra_.apply(op, *a, *b) : std::nullopt;
  }
  Value minus(Value a, Value b) {
    return apply(FormulaOp::kAdd, a, apply(FormulaOp::kMul, b, Value(-1)));
  }

  Value sum() {
    Value left = product();
    while (left) {
      if (take('+'))
        left = apply(FormulaOp::kAdd, left, product());
      else if (take('-'))
        left = minus(left, product());
      else
        break;
    }
    return left;
  }

  Value product() {
    Value left = factor();
    while (left && take('*')) left = apply(FormulaOp::kMul, left, factor());
    return left;
  }

  Value factor() {
    if (++depth_ > kMaxDepth) return std::nullopt;
    const Value result = factor_at_depth();
    --depth_;
    return result;
  }

  Value factor_at_depth() {
    // The minimum integer has no positive counterpart, so the sign is parsed with the number.
    skip_space();
    if (at_ + 1 < text_.size() && text_[at_] == '-' && is_digit(text_[at_ + 1])) return integer();
    if (take('-')) return apply(FormulaOp::kMul, factor(), Value(-1));
    if (take('(')) {
      const Value value = sum();
      return take(')') ? value : std::nullopt;
    }
    if (at_ < text_.size() && is_digit(text_[at_])) return integer();
    std::string_view rest = text_.substr(at_);
    if (const std::optional<std::string> quoted = runtime::take_quoted_name(rest)) {
      at_ = text_.size() - rest.size();
      return algebra_.symbol(*quoted);
    }
    const std::string_view name = rest.substr(0, runtime::identifier_size(rest));
    if (name.empty()) return std::nullopt;
    at_ += name.size();
    return take('(') ? call(name) : algebra_.symbol(name);
  }

  Value integer() {
    int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return std::nullopt;
    at_ = static_cast<size_t>(end - text_.data());
    return Value(value);
  }

  Value call(std::string_view name) {
    Value result = sum();
    int count = 1;
    for (; result && take(','); ++count) result = function(name, result, sum());
    const bool is_variadic = name == "min" || name == "max";
    return count < 2 || (count > 2 && !is_variadic) || !take(')') ? std::nullopt : result;
  }

  Value function(std::string_view name, Value a, Value b) {
    if (name == "floordiv") return apply(FormulaOp::kFloorDiv, a, b);
    if (name == "ceildiv")
      return apply(FormulaOp::kFloorDiv, minus(apply(FormulaOp::kAdd, a, b), Value(1)), b);
    if (name == "mod") return apply(FormulaOp::kMod, a, b);
    if (name == "min") return apply(FormulaOp::kMin, a, b);
    if (name == "max") return apply(FormulaOp::kMax, a, b);
    return std::nullopt;
  }

  std::string_view text_;
  Algebra algebra_;
  size_t at_ = 0;
  int depth_ = 0;
};

// The value of a formula, where `values` has the values of its names. None as for
// FormulaParser::parse(), for a name without a value, for a divisor below 1, and on overflow.
std::optional<int64_t> evaluate_formula(std::string_view formula,
                                        const std::map<std::string, int64_t>& values);

}  // namespace scopevm::format
