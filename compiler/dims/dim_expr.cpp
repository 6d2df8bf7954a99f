// Dimension expressions as interned nodes: order, printing, parsing, evaluation, substitution.
//   polynomial.cpp      the normal form
//   dim_arithmetic.cpp  operations, through the normal form
#include "compiler/dims/dim_expr.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <unordered_map>

#include "compiler/dims/polynomial.h"
#include "runtime/name_text.h"

namespace scopevm::compiler {

struct DimExpr::Node {
  // Whether is_never_negative() has examined the expression, and its result.
  enum class Sign : uint8_t { kUnknown, kProved, kNotProved };

  Kind kind;
  bool is_opaque = false;         // without normal form: an atom in enclosing expressions
  int64_t value = 0;              // kConstant
  std::string name;               // kSymbol
  DimFacts facts;                 // kSymbol
  std::vector<DimExpr> operands;  // the other kinds
  size_t size = 1;  // nodes of its tree, which is the cost of printing and evaluating it; saturates
  size_t hash = 0;
  // Accessed through std::atomic_ref, because threads share nodes. All threads store the same
  // value.
  mutable Sign sign = Sign::kUnknown;
};

struct DimInterner {
  static DimExpr intern(DimExpr::Node node) {
    static DimInterner* interner = new DimInterner;  // never destroyed
    node.hash = hash(node);
    // Compilations in several threads share the interner.
    std::lock_guard<std::mutex> lock(interner->mutex_);
    auto [begin, end] = interner->nodes_.equal_range(node.hash);
    for (auto it = begin; it != end; ++it)
      if (equal(*it->second, node)) return DimExpr(it->second.get());
    size_t key = node.hash;
    auto added = interner->nodes_.emplace(key, std::make_unique<DimExpr::Node>(std::move(node)));
    return DimExpr(added->second.get());
  }
  static const DimExpr::Node* node(DimExpr e) { return e.node_; }

 private:
  static size_t hash(const DimExpr::Node& node) {
    size_t h = static_cast<size_t>(node.kind) * 0x9E3779B97F4A7C15u;
    auto mix = [&](size_t v) { h = (h ^ v) * 0xD6E8FEB86659FD93u + (h >> 29); };
    mix(static_cast<size_t>(node.is_opaque));
    mix(static_cast<size_t>(node.value));
    mix(std::hash<std::string>()(node.name));
    mix(static_cast<size_t>(node.facts.min ^ (node.facts.max << 1) ^ node.facts.multiple_of << 2));
    // Operands are interned already: their hashes are stored, and equality below compares pointers.
    for (DimExpr operand : node.operands) mix(operand.node_->hash);
    return h;
  }
  static bool equal(const DimExpr::Node& a, const DimExpr::Node& b) {
    return a.kind == b.kind && a.is_opaque == b.is_opaque && a.value == b.value &&
           a.name == b.name && a.facts == b.facts && a.operands == b.operands;
  }

  std::mutex mutex_;
  std::unordered_multimap<size_t, std::unique_ptr<DimExpr::Node>> nodes_;
};

namespace dims {

DimExpr make(DimExpr::Kind kind, std::vector<DimExpr> operands, bool is_opaque) {
  size_t size = 1;
  for (DimExpr operand : operands) size = std::min(size + tree_size(operand), size_t{UINT32_MAX});
  return DimInterner::intern({kind, is_opaque, 0, {}, {}, std::move(operands), size});
}
size_t tree_size(DimExpr e) { return DimInterner::node(e)->size; }
bool is_opaque(DimExpr e) { return DimInterner::node(e)->is_opaque; }

bool remember_sign(DimExpr e, const std::function<bool()>& prove) {
  using Sign = DimExpr::Node::Sign;
  std::atomic_ref<Sign> sign(DimInterner::node(e)->sign);
  Sign known = sign.load(std::memory_order_relaxed);
  if (known == Sign::kUnknown) {
    known = prove() ? Sign::kProved : Sign::kNotProved;
    sign.store(known, std::memory_order_relaxed);
  }
  return known == Sign::kProved;
}

}  // namespace dims

namespace {

using Kind = DimExpr::Kind;

struct DimAlgebra {
  using Value = DimExpr;
  static std::optional<DimExpr> symbol(std::string_view name) { return DimExpr::symbol(name); }
  static std::optional<DimExpr> apply(format::FormulaOp op, DimExpr a, DimExpr b) {
    return compiler::apply(op, a, b);
  }
};

// One term of a sum: "n" if it is the first, otherwise "+n" or "-2*n". A sum in a sum is opaque and
// keeps its parentheses.
std::string str_of_term(DimExpr term, bool is_first) {
  std::string text = term.kind() == Kind::kAdd ? "(" + term.str() + ")" : term.str();
  return is_first || text.front() == '-' ? text : "+" + text;
}

std::string str_of_product(DimExpr e) {
  std::string text;
  for (DimExpr factor : e.operands()) {
    if (text.empty() && factor.is_constant(-1)) {
      text = "-";
      continue;
    }
    bool is_first = text.empty() || text == "-";
    // A product in a product is opaque. It keeps its parentheses unless it is the first factor,
    // because `a*(b*c)` and `a*b*c` are parsed differently.
    bool needs_parentheses =
        factor.kind() == Kind::kAdd || (factor.kind() == Kind::kMul && !is_first);
    if (!is_first) text += "*";
    text += needs_parentheses ? "(" + factor.str() + ")" : factor.str();
  }
  return text;
}

}  // namespace

DimExpr::DimExpr() : DimExpr(int64_t{0}) {}
DimExpr::DimExpr(int64_t value)
    : node_(DimInterner::intern({Kind::kConstant, false, value, {}, {}, {}}).node_) {}

DimExpr DimExpr::symbol(std::string_view name, const DimFacts& facts) {
  return DimInterner::intern({Kind::kSymbol, false, 0, std::string(name), facts, {}});
}

DimExpr::Kind DimExpr::kind() const { return node_->kind; }

// The operations of both enums have the same order.
static_assert(static_cast<int>(DimExpr::Kind::kMax) - static_cast<int>(DimExpr::Kind::kAdd) ==
              static_cast<int>(format::FormulaOp::kMax));
static_assert(static_cast<int>(DimExpr::Kind::kFloorDiv) - static_cast<int>(DimExpr::Kind::kAdd) ==
              static_cast<int>(format::FormulaOp::kFloorDiv));
format::FormulaOp DimExpr::op() const {
  return static_cast<format::FormulaOp>(static_cast<int>(kind()) - static_cast<int>(Kind::kAdd));
}
std::span<const DimExpr> DimExpr::operands() const { return node_->operands; }
std::string_view DimExpr::symbol_name() const { return node_->name; }
const DimFacts& DimExpr::facts() const { return node_->facts; }
std::optional<int64_t> DimExpr::as_constant() const {
  return node_->kind == Kind::kConstant ? std::optional(node_->value) : std::nullopt;
}
size_t hash_value(DimExpr e) { return e.node_->hash; }

bool operator<(DimExpr a, DimExpr b) {
  if (a == b) return false;
  const DimExpr::Node &x = *a.node_, &y = *b.node_;
  // Structural, not by address: the order of operands, and therefore all output, does not depend on
  // the order of interning.
  if (x.kind != y.kind) return x.kind < y.kind;
  if (x.is_opaque != y.is_opaque) return y.is_opaque;
  if (x.value != y.value) return x.value < y.value;
  if (x.name != y.name) return x.name < y.name;
  if (x.facts != y.facts)
    return std::tie(x.facts.min, x.facts.max, x.facts.multiple_of) <
           std::tie(y.facts.min, y.facts.max, y.facts.multiple_of);
  // Large expressions share parts, which a comparison of operands would visit again and again.
  // Their hashes are computed from their structure, too.
  constexpr size_t kLargestCompared = 64;  // nodes
  const auto order = std::tie(x.size, x.hash) <=> std::tie(y.size, y.hash);
  if (std::max(x.size, y.size) > kLargestCompared && order != 0) return order < 0;
  return std::lexicographical_compare(x.operands.begin(), x.operands.end(), y.operands.begin(),
                                      y.operands.end());
}

std::string DimExpr::str() const {
  switch (node_->kind) {
    case Kind::kConstant:
      return std::to_string(node_->value);
    case Kind::kSymbol:
      return runtime::name_text(node_->name);
    case Kind::kMul:
      return str_of_product(*this);
    case Kind::kAdd: {
      std::string text;
      for (DimExpr term : operands()) text += str_of_term(term, text.empty());
      return text;
    }
    default: {
      constexpr const char* kNames[] = {"", "", "", "", "floordiv", "mod", "min", "max"};
      std::string text = kNames[static_cast<int>(node_->kind)];
      for (size_t i = 0; i < operands().size(); ++i)
        text += (i == 0 ? "(" : ", ") + operands()[i].str();
      return text + ")";
    }
  }
}

std::optional<DimExpr> DimExpr::parse(std::string_view text) {
  return format::FormulaParser(text, DimAlgebra()).parse();
}

std::vector<std::string> DimExpr::symbols() const {
  std::set<std::string> names;
  std::function<void(DimExpr)> visit = [&](DimExpr e) {
    if (e.kind() == Kind::kSymbol) names.emplace(e.symbol_name());
    for (DimExpr operand : e.operands()) visit(operand);
  };
  visit(*this);
  return {names.begin(), names.end()};
}

SymbolKind symbol_kind(std::string_view name) {
  if (!name.starts_with('$')) return SymbolKind::kDimension;
  return name == kThreadsSymbol ? SymbolKind::kThreads : SymbolKind::kRuntimeDefined;
}

bool is_runtime_defined(DimExpr e) {
  return std::ranges::any_of(e.symbols(), [](const std::string& name) {
    return symbol_kind(name) == SymbolKind::kRuntimeDefined;
  });
}

std::optional<int64_t> DimExpr::evaluate(
    const std::function<std::optional<int64_t>(std::string_view)>& value_of) const {
  if (kind() == Kind::kConstant) return node_->value;
  if (kind() == Kind::kSymbol) return value_of(node_->name);
  std::optional<int64_t> result = operands().front().evaluate(value_of);
  for (DimExpr operand : operands().subspan(1)) {
    const std::optional<int64_t> next = result ? operand.evaluate(value_of) : std::nullopt;
    result = next ? format::apply(op(), *result, *next) : std::nullopt;
  }
  return result;
}

DimExpr DimExpr::substitute(
    const std::function<std::optional<DimExpr>(std::string_view)>& with) const {
  if (kind() == Kind::kConstant) return *this;
  if (kind() == Kind::kSymbol) return with(node_->name).value_or(*this);
  DimExpr result = operands().front().substitute(with);
  // Rebuilt by the operators, so that the result is in normal form again.
  for (DimExpr operand : operands().subspan(1))
    result = apply(op(), result, operand.substitute(with));
  return result;
}

}  // namespace scopevm::compiler
