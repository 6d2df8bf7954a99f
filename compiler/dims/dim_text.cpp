// Truncates expressions for messages, and names common subexpressions of formulas. Equal
// expressions are one object (hash-consing, Ershov, "On programming of arithmetic operations",
// 1958), so a common subexpression is a node with several uses.
#include "compiler/dims/dim_text.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>

#include "compiler/dims/polynomial.h"
#include "runtime/name_text.h"

namespace scopevm::compiler {
namespace {

using Kind = DimExpr::Kind;

// `  definition A12 = ` and a formula fit in 100 columns.
constexpr size_t kLongestDefinition = 80;
// Keeps a line of `scopevm bound`, with 61 columns before `workspace = `, near 100 columns.
constexpr size_t kLongestFormula = 28;
// Shorter operands are repeated instead of named.
constexpr size_t kShortestNamed = 12;
// Limits the output for generated models.
constexpr size_t kMostDefinitions = 1000;
constexpr char kOmitted[] = "omitted: the formulas need more than 1000 definitions";

// Larger expressions are not printed: a shared operand is printed once per occurrence, so the
// string can be exponentially long.
constexpr size_t kLargestPrinted = 4096;  // nodes

bool is_sum(DimExpr e) { return e.kind() == Kind::kAdd; }

// A product without its constant factor.
DimExpr without_coefficient(DimExpr e) {
  if (e.kind() != Kind::kMul || !e.operands().front().is_constant()) return e;
  const auto factors = e.operands().subspan(1);
  if (factors.size() == 1) return factors.front();
  return dims::make(Kind::kMul, {factors.begin(), factors.end()}, dims::is_opaque(e));
}

// The operands as they are printed: floordiv(a + d - 1, d) is ceildiv(a, d).
std::vector<DimExpr> operands_of(DimExpr e) {
  std::vector<DimExpr> operands(e.operands().begin(), e.operands().end());
  if (e.kind() != Kind::kFloorDiv) return operands;
  const DimExpr rest = operands[0] - operands[1] + DimExpr(1);
  // The form with fewer terms is printed.
  if (dims::to_polynomial(rest).size() < dims::to_polynomial(operands[0]).size())
    operands[0] = rest;
  return operands;
}

// The operands as they are counted and named. A constant factor is never part of a named operand,
// so that `64*max(m, n)` and `32*max(m, n)` share a name.
std::vector<DimExpr> parts_of(DimExpr e) {
  if (DimExpr rest = without_coefficient(e); rest != e) return {rest};
  std::vector<DimExpr> parts = operands_of(e);
  for (DimExpr& part : parts) part = without_coefficient(part);
  return parts;
}

// The greatest common divisor of all coefficients of the operands of a min or max.
int64_t common_divisor(DimExpr e) {
  int64_t divisor = 0;
  for (DimExpr operand : e.operands())
    divisor = dims::common_divisor(dims::to_polynomial(operand), divisor);
  return divisor;
}

// A sum as factor * sum. The factor contains all atoms that the terms share, and the greatest
// common divisor of the coefficients if factored() takes it out.
struct Factored {
  DimExpr factor;
  DimExpr sum;
};

Factored factored(DimExpr e) {
  const dims::Polynomial terms = dims::to_polynomial(e);
  int64_t divisor = dims::common_divisor(terms, 0);
  // Monomials are sorted, so common factors are an intersection of sorted ranges.
  dims::Monomial common = terms.begin()->first;
  for (const auto& [monomial, coefficient] : terms) {
    dims::Monomial shared;
    std::set_intersection(common.begin(), common.end(), monomial.begin(), monomial.end(),
                          std::back_inserter(shared));
    common = std::move(shared);
  }
  // A constant factor is taken out only if a coefficient becomes 1 or -1. Otherwise the sum is
  // easier to read: 12*m + 18*n rather than 6*(2*m + 3*n).
  const bool leaves_one = std::ranges::any_of(
      terms, [&](const auto& term) { return std::abs(term.second) == divisor; });
  if (!leaves_one) divisor = 1;
  if (divisor == 1 && common.empty()) return {1, e};
  dims::Polynomial quotients;
  for (const auto& [monomial, coefficient] : terms) {
    dims::Monomial quotient;
    std::set_difference(monomial.begin(), monomial.end(), common.begin(), common.end(),
                        std::back_inserter(quotient));
    quotients[quotient] = coefficient / divisor;
  }
  return {dims::from_polynomial({{common, divisor}}), dims::from_polynomial(quotients)};
}

class FormulaPrinter {
 public:
  FormulaText run(std::span<const DimExpr> expressions) {
    for (DimExpr e : expressions) count(e);
    FormulaText result;
    for (DimExpr e : expressions) result.formulas.push_back(line_of(e));
    result.definitions = std::move(definitions_);
    return result;
  }

 private:
  // Counts the uses of each node, and collects the symbols.
  void count(DimExpr e) {
    // Each node is visited once: the parts of a shared node are printed once, in its definition.
    if (++uses_[e] > 1) return;
    if (e.kind() == Kind::kSymbol) symbols_.emplace(e.symbol_name());
    for (DimExpr part : parts_of(e)) count(part);
  }

  std::string line_of(DimExpr e) {
    if (const std::string& text = text_of(e); text.size() <= kLongestFormula) return text;
    return name_of(e);
  }

  // The name of the node if it has one, else its text. Names parts until the text has at most
  // kLongestDefinition characters, if possible. On return, every name in the text has a definition.
  const std::string& text_of(DimExpr e) {
    if (auto found = strings_.find(e); found != strings_.end()) return found->second;
    for (DimExpr part : parts_of(e)) text_of(part);
    std::string text = composed(e);
    while (text.size() > kLongestDefinition && shorten(e, text.size() - kLongestDefinition))
      text = composed(e);
    if (text.size() > kLongestDefinition) text = composed(split(e));
    std::string& entry = strings_[e] = std::move(text);
    if (uses_[e] > 1 && entry.size() >= kShortestNamed && !e.operands().empty()) name_of(e);
    return strings_[e];
  }

  // Defines a name for a node whose text is known, unless the text is a name already.
  std::string name_of(DimExpr e) {
    std::string& text = strings_[e];
    if (!is_named_.insert(e).second) return text;
    definitions_.push_back({new_name(), std::move(text)});
    return text = definitions_.back().name;
  }

  std::string new_name() {
    for (;; ++names_) {
      const size_t round = names_ / 26;
      std::string name(1, static_cast<char>('A' + names_ % 26));
      if (round > 0) name += std::to_string(round);
      // A definition must not have the name of a dim of the model.
      if (symbols_.contains(name)) continue;
      ++names_;
      return name;
    }
  }

  // Names the longest parts, at most as many as it takes to remove `excess` characters. False if no
  // part can be named.
  bool shorten(DimExpr e, size_t excess) {
    std::vector<DimExpr> parts = parts_of(e);
    std::erase_if(
        parts, [&](DimExpr part) { return part.operands().empty() || is_named_.contains(part); });
    if (parts.empty()) return false;
    const auto length = [&](DimExpr part) { return strings_[part].size(); };
    std::ranges::stable_sort(parts, std::ranges::greater(), length);
    size_t removed = 0;
    for (auto part = parts.begin(); part != parts.end() && removed < excess; ++part) {
      // A name has one character or more, and needs no parentheses.
      removed += length(*part) + 1;
      name_of(*part);
    }
    return true;
  }

  // Rewrites `e` as an operation with fewer operands: consecutive operands are grouped, and each
  // group of several operands is named.
  DimExpr split(DimExpr e) {
    const auto operands = e.operands();
    if (operands.size() <= 2) return e;
    std::vector<DimExpr> groups;
    for (size_t i = 0; i < operands.size();) {
      std::vector<DimExpr> group;
      // Grouped until the line is full.
      size_t length = 0;
      do {
        length += text_with_coefficient(operands[i]).size() + 3;
        group.push_back(operands[i++]);
      } while (i < operands.size() &&
               length + text_with_coefficient(operands[i]).size() + 3 < kLongestDefinition - 8);
      // Opaque, so that sums of groups are not merged into one sum again.
      DimExpr whole = group.size() == 1 ? group.front() : dims::make(e.kind(), group, true);
      if (group.size() > 1) {
        strings_[whole] = composed(whole);
        name_of(whole);
      }
      groups.push_back(whole);
    }
    // No two operands fit into one line: the line stays too long.
    if (groups.size() == operands.size()) return e;
    DimExpr shorter = groups.size() == 1 ? groups.front() : dims::make(e.kind(), groups, true);
    return composed(shorter).size() > kLongestDefinition ? split(shorter) : shorter;
  }

  // The node's own text. REQUIRES: text_of() was called for its parts, or they are short.
  std::string composed(DimExpr e) {
    switch (e.kind()) {
      case Kind::kConstant:
        return std::to_string(*e.as_constant());
      case Kind::kSymbol:
        return runtime::name_text(e.symbol_name());
      case Kind::kAdd:
        return composed_sum(e);
      case Kind::kMul:
        return composed_product(e);
      case Kind::kMin:
      case Kind::kMax:
        return composed_extremum(e);
      default:
        return composed_call(e);
    }
  }

  // The name or text of a part. A new part has no text yet, and is composed.
  std::string known(DimExpr e) {
    auto found = strings_.find(e);
    return found == strings_.end() ? composed(e) : found->second;
  }
  std::string text_with_coefficient(DimExpr e) {
    if (without_coefficient(e) == e || is_named_.contains(e)) return known(e);
    return composed_product(e);
  }
  std::string factor_text(DimExpr e) {
    const std::string text = known(e);
    const bool is_name = is_named_.contains(e);
    return !is_name && (is_sum(e) || text.front() == '-') ? "(" + text + ")" : text;
  }

  std::string composed_product(DimExpr e) {
    if (DimExpr rest = without_coefficient(e); rest != e) {
      const DimExpr coefficient = e.operands().front();
      return (coefficient.is_constant(-1) ? "-" : coefficient.str() + "*") + factor_text(rest);
    }
    std::string text;
    for (DimExpr factor : e.operands()) text += (text.empty() ? "" : "*") + factor_text(factor);
    return text;
  }

  std::string composed_sum(DimExpr e) {
    std::string text = plain_sum(e);
    if (dims::is_opaque(e) || has_named_polynomial(e)) return text;
    const Factored parts = factored(e);
    if (parts.sum == e || !is_sum(parts.sum)) return text;
    std::string product = text_with_coefficient(parts.factor) + "*(" + plain_sum(parts.sum) + ")";
    return product.size() < text.size() ? product : text;
  }

  std::string plain_sum(DimExpr e) {
    std::vector<DimExpr> terms(e.operands().begin(), e.operands().end());
    const auto is_positive = [](DimExpr term) {
      return term.operands().empty() ? !term.is_constant() || *term.as_constant() >= 0
                                     : term.operands().front().as_constant().value_or(1) >= 0;
    };
    // Starts with a positive term, if there is one.
    if (const auto first = std::ranges::find_if(terms, is_positive); first != terms.end())
      std::rotate(terms.begin(), first, first + 1);
    std::string text;
    for (DimExpr term : terms) {
      std::string next = text_with_coefficient(term);
      if (text.empty())
        text = next;
      else if (next.front() == '-')
        text += " - " + next.substr(1);
      else
        text += " + " + next;
    }
    return text;
  }

  std::string composed_extremum(DimExpr e) {
    std::string text = composed_call(e);
    const int64_t divisor = common_divisor(e);
    if (divisor <= 1 || has_named_polynomial(e)) return text;
    std::vector<DimExpr> quotients;
    // Exact: the divisor divides every coefficient.
    for (DimExpr operand : e.operands()) quotients.push_back(floordiv(operand, divisor));
    std::string product =
        std::to_string(divisor) + "*" + composed_call(dims::make(e.kind(), quotients, true));
    return product.size() < text.size() ? product : text;
  }

  // True if a factored form would not use the name of a part.
  bool has_named_polynomial(DimExpr e) const {
    return std::ranges::any_of(parts_of(e), [&](DimExpr part) {
      return (is_sum(part) || part.kind() == Kind::kMul) && is_named_.contains(part);
    });
  }

  std::string composed_call(DimExpr e) {
    constexpr const char* kNames[] = {"", "", "", "", "floordiv", "mod", "min", "max"};
    const std::vector<DimExpr> operands = operands_of(e);
    // operands_of() changes the dividend only for a ceildiv.
    const bool is_ceiling = operands.front() != e.operands().front();
    std::string text = is_ceiling ? "ceildiv" : kNames[static_cast<int>(e.kind())];
    for (size_t i = 0; i < operands.size(); ++i)
      text += (i == 0 ? "(" : ", ") + text_with_coefficient(operands[i]);
    return text + ")";
  }

  std::unordered_map<DimExpr, size_t> uses_;
  std::set<std::string, std::less<>> symbols_;
  std::unordered_map<DimExpr, std::string> strings_;  // a name, once the node has one
  std::set<DimExpr> is_named_;
  std::vector<FormulaDefinition> definitions_;
  size_t names_ = 0;
};

}  // namespace

std::string short_text(DimExpr e, size_t longest) {
  if (dims::tree_size(e) > kLargestPrinted) return "an expression too long to print...";
  return cut_text(e.str(), longest);
}

std::string cut_text(std::string text, size_t longest) {
  constexpr char kRest[] = "...";
  constexpr size_t kRestSize = sizeof kRest - 1;
  if (text.size() <= longest || longest < kRestSize) return text;
  size_t end = longest - kRestSize;
  // Continuation bytes of UTF-8: the cut must not divide a character of a name.
  auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  while (end > 0 && continues(text[end])) --end;
  return text.substr(0, end) + kRest;
}

FormulaText formula_text(std::span<const DimExpr> expressions) {
  FormulaText result = FormulaPrinter().run(expressions);
  if (result.definitions.size() <= kMostDefinitions) return result;
  result.definitions.clear();
  for (size_t i = 0; i < expressions.size(); ++i) {
    // Formulas that need no definitions are printed even if others are too large.
    FormulaText alone = FormulaPrinter().run(expressions.subspan(i, 1));
    result.formulas[i] = alone.definitions.empty() ? alone.formulas[0] : kOmitted;
  }
  return result;
}

}  // namespace scopevm::compiler
