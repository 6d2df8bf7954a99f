// Evaluates formulas of scopevm/formula.h without names other than $threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace scopevm::onednn_test {

class FormulaEvaluator {
 public:
  FormulaEvaluator(std::string_view text, int64_t threads) : text_(text), threads_(threads) {}

  int64_t sum() {
    int64_t value = product();
    while (true) {
      if (skip("+"))
        value += product();
      else if (skip("-"))
        value -= product();
      else
        return value;
    }
  }

 private:
  bool skip(std::string_view token) {
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }

  int64_t product() {
    int64_t value = factor();
    while (skip("*")) value *= factor();
    return value;
  }

  int64_t factor() {
    if (skip("$threads")) return threads_;
    if (skip("(")) return closed(sum());
    if (skip("min(")) return pair([](int64_t a, int64_t b) { return std::min(a, b); });
    if (skip("ceildiv(")) return pair([](int64_t a, int64_t b) { return (a + b - 1) / b; });
    const size_t digits = std::min(text_.size(), text_.find_first_not_of("0123456789"));
    if (digits == 0) std::abort();
    const int64_t value = std::atoll(std::string(text_.substr(0, digits)).c_str());
    text_.remove_prefix(digits);
    return value;
  }

  template <typename Apply>
  int64_t pair(Apply apply) {
    const int64_t a = sum();
    if (!skip(",")) std::abort();
    return closed(apply(a, sum()));
  }

  int64_t closed(int64_t value) {
    if (!skip(")")) std::abort();
    return value;
  }

  std::string_view text_;
  int64_t threads_;
};

inline int64_t evaluate(std::string_view formula, int64_t threads) {
  return FormulaEvaluator(formula, threads).sum();
}

}  // namespace scopevm::onednn_test
