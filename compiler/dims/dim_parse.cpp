// Parses dimension expressions by recursive descent:
//   sum     := product (('+' | '-') product)*
//   product := factor ('*' factor)*
//   factor  := '-' factor | integer | name | function '(' sum ',' sum (',' sum)* ')' | '(' sum ')'
// The functions are floordiv, ceildiv, mod, min and max; only min and max take more than two sums.
// A name starts with a letter, '_' or '$', followed by these, digits and dots.
#include <cctype>
#include <charconv>

#include "compiler/dims/dim_expr.h"

namespace scopevm::compiler {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<DimExpr> parse() {
    std::optional<DimExpr> result = sum();
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

  std::optional<DimExpr> sum() {
    std::optional<DimExpr> left = product();
    while (left) {
      bool is_minus = false;
      if (!take('+')) {
        if (!take('-')) return left;
        is_minus = true;
      }
      std::optional<DimExpr> right = product();
      if (!right) return std::nullopt;
      left = is_minus ? *left - *right : *left + *right;
    }
    return left;
  }

  std::optional<DimExpr> product() {
    std::optional<DimExpr> left = factor();
    while (left && take('*')) {
      std::optional<DimExpr> right = factor();
      if (!right) return std::nullopt;
      left = *left * *right;
    }
    return left;
  }

  std::optional<DimExpr> factor() {
    if (++depth_ > kMaxDepth) return std::nullopt;
    std::optional<DimExpr> result = factor_at_depth();
    --depth_;
    return result;
  }

  std::optional<DimExpr> factor_at_depth() {
    // The minimum integer has no positive counterpart, so the sign is parsed with the number.
    skip_space();
    if (at_ + 1 < text_.size() && text_[at_] == '-' && is_digit(text_[at_ + 1])) return integer();
    if (take('-')) {
      std::optional<DimExpr> value = factor();
      if (!value) return std::nullopt;
      return *value * DimExpr(-1);
    }
    if (take('(')) {
      std::optional<DimExpr> value = sum();
      return take(')') ? value : std::nullopt;
    }
    if (at_ < text_.size() && is_digit(text_[at_])) return integer();
    std::string_view name = identifier();
    if (name.empty()) return std::nullopt;
    return take('(') ? call(name) : DimExpr::symbol(name);
  }

  std::optional<DimExpr> integer() {
    int64_t value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return std::nullopt;
    at_ = end - text_.data();
    return value;
  }

  std::string_view identifier() {
    size_t begin = at_;
    auto is_start = [](char c) {
      return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$';
    };
    while (at_ < text_.size() &&
           (is_start(text_[at_]) || (at_ > begin && (is_digit(text_[at_]) || text_[at_] == '.'))))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::optional<DimExpr> call(std::string_view name) {
    DimExpr (*function)(DimExpr, DimExpr) = nullptr;
    if (name == "floordiv") function = floordiv;
    if (name == "ceildiv") function = ceildiv;
    if (name == "mod") function = mod;
    if (name == "min") function = min;
    if (name == "max") function = max;
    bool is_variadic = name == "min" || name == "max";
    std::optional<DimExpr> result = sum();
    int count = 1;
    while (function && result && take(',')) {
      std::optional<DimExpr> next = sum();
      if (!next) return std::nullopt;
      result = function(*result, *next);
      ++count;
    }
    if (!function || !take(')') || count < 2 || (count > 2 && !is_variadic)) return std::nullopt;
    return result;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<DimExpr> DimExpr::parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace scopevm::compiler
