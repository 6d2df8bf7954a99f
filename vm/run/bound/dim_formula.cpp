// A recursive-descent evaluator of dim formulas; see dim_formula.h.
#include "vm/run/bound/dim_formula.h"

#include <algorithm>
#include <charconv>

namespace scopevm::vm {
namespace {

using Value = std::optional<int64_t>;

class Evaluator {
 public:
  Evaluator(std::string_view text, const std::map<std::string, int64_t>& values)
      : text_(text), values_(values) {}

  Value run() {
    const Value value = sum();
    skip_space();
    return at_ == text_.size() ? value : std::nullopt;
  }

 private:
  // Limits the recursion for malicious input. Far above the depth of real formulas.
  static constexpr int kMaxDepth = 64;

  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Value sum() {
    Value left = product();
    while (left) {
      const bool is_plus = take('+');
      if (!is_plus && !take('-')) return left;
      const Value right = product();
      int64_t result = 0;
      if (!right || (is_plus ? __builtin_add_overflow(*left, *right, &result)
                             : __builtin_sub_overflow(*left, *right, &result)))
        return std::nullopt;
      left = result;
    }
    return left;
  }

  Value product() {
    Value left = factor();
    while (left && take('*')) {
      const Value right = factor();
      int64_t result = 0;
      if (!right || __builtin_mul_overflow(*left, *right, &result)) return std::nullopt;
      left = result;
    }
    return left;
  }

  Value factor() {
    if (++depth_ > kMaxDepth) return std::nullopt;
    const Value value = take('-') ? negated(factor()) : atom();
    --depth_;
    return value;
  }

  static Value negated(Value value) {
    int64_t result = 0;
    if (!value || __builtin_sub_overflow(int64_t{0}, *value, &result)) return std::nullopt;
    return result;
  }

  Value atom() {
    if (take('(')) {
      const Value value = sum();
      return take(')') ? value : std::nullopt;
    }
    skip_space();
    const size_t end = std::min(text_.find_first_of(" +-*(),", at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    if (take('(')) return call(word);
    int64_t number = 0;
    const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && last == word.data() + word.size()) return number;
    const auto found = values_.find(std::string(word));
    return found == values_.end() ? Value() : Value(found->second);
  }

  Value call(std::string_view function) {
    Value result = sum();
    int arguments = 1;
    for (; result && take(','); ++arguments) {
      const Value next = sum();
      if (!next) return std::nullopt;
      result = apply(function, *result, *next);
    }
    const bool is_variadic = function == "min" || function == "max";
    if (arguments < 2 || (arguments > 2 && !is_variadic) || !take(')')) return std::nullopt;
    return result;
  }

  static Value apply(std::string_view function, int64_t a, int64_t b) {
    if (function == "min") return std::min(a, b);
    if (function == "max") return std::max(a, b);
    // The divisors of dim formulas are positive. floordiv and ceildiv round correctly for a
    // negative `a` too.
    if (b < 1) return std::nullopt;
    if (function == "mod") return a % b < 0 ? a % b + b : a % b;
    if (function == "floordiv") return a / b - (a % b < 0 ? 1 : 0);
    if (function == "ceildiv") return a / b + (a % b > 0 ? 1 : 0);
    return std::nullopt;
  }

  std::string_view text_;
  const std::map<std::string, int64_t>& values_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<int64_t> evaluate_dim(std::string_view formula,
                                    const std::map<std::string, int64_t>& values) {
  return Evaluator(formula, values).run();
}

}  // namespace scopevm::vm
