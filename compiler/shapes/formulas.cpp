// Converts values of a shape program back to expressions. An offset or a height is a maximum of
// sums of sizes, computed by `+` and `max`. Sums are distributed over maxima while the number of
// terms is small. In max-plus algebra (Baccelli et al., "Synchronization and Linearity", 1992), the
// value is then one maximum of polynomials. Polynomials that another one dominates are removed.
#include <algorithm>
#include <random>
#include <unordered_map>

#include "compiler/dims/dominance.h"
#include "compiler/dims/polynomial.h"
#include "compiler/shapes/shape_program.h"

namespace scopevm::compiler {
namespace {

using Kind = DimExpr::Kind;

// A sum that would have more than kMostSums terms, and a maximum of more than kMostTerms, is kept
// as one nested maximum.
constexpr size_t kMostSums = 16, kMostTerms = 48;
// Larger expressions are not compared.
constexpr size_t kLargestCompared = 256;  // nodes
constexpr int kMostProofs = 1500;         // per call of formulas(); bounds the compile time

// An expression, and its values at sample dims.
struct Term {
  DimExpr expr;
  std::vector<double> samples;
};
using Terms = std::vector<Term>;  // the value is their maximum

// The part that all terms have in common: max(a + c, b + c) is c + max(a, b).
DimExpr common_part(const Terms& terms) {
  dims::Polynomial common = dims::to_polynomial(terms.front().expr);
  for (const Term& term : terms) {
    const dims::Polynomial other = dims::to_polynomial(term.expr);
    dims::Polynomial both;
    for (const auto& [monomial, coefficient] : common)
      if (const auto found = other.find(monomial);
          // The coefficient of smaller magnitude, if the signs are equal. Subtracting it changes no
          // sign.
          found != other.end() && (found->second > 0) == (coefficient > 0))
        both[monomial] = coefficient > 0 ? std::min(coefficient, found->second)
                                         : std::max(coefficient, found->second);
    common = std::move(both);
  }
  return dims::from_polynomial(common);
}

DimExpr expression_of(const Terms& terms) {
  if (terms.size() == 1) return terms.front().expr;
  const DimExpr common = common_part(terms);
  std::vector<DimExpr> operands;
  for (const Term& term : terms) {
    const DimExpr rest = term.expr - common;
    if (rest.kind() == Kind::kMax)
      operands.insert(operands.end(), rest.operands().begin(), rest.operands().end());
    else
      operands.push_back(rest);
  }
  std::sort(operands.begin(), operands.end());
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  return common + (operands.size() == 1 ? operands.front() : dims::make(Kind::kMax, operands));
}

Term single(const Terms& terms) {
  Term whole{expression_of(terms), terms.front().samples};
  for (const Term& term : terms)
    for (size_t i = 0; i < whole.samples.size(); ++i)
      whole.samples[i] = std::max(whole.samples[i], term.samples[i]);
  return whole;
}

Term sum_of(const Term& a, const Term& b) {
  Term sum{a.expr + b.expr, a.samples};
  for (size_t i = 0; i < sum.samples.size(); ++i) sum.samples[i] += b.samples[i];
  return sum;
}

class MaxPlus {
 public:
  Terms sum(const Terms& a, const Terms& b) {
    // max(a, b) + max(c, d) is max(a+c, a+d, b+c, b+d): the number of terms multiplies.
    if (a.size() * b.size() > kMostSums) return {sum_of(single(a), single(b))};
    Terms sums;
    for (const Term& x : a)
      for (const Term& y : b) add(sums, sum_of(x, y));
    return sums;
  }

  Terms maximum(Terms a, const Terms& b) {
    for (const Term& term : b) add(a, term);
    if (a.size() > kMostTerms) return {single(a)};
    return a;
  }

 private:
  void add(Terms& terms, const Term& term) {
    if (std::ranges::any_of(terms, [&](const Term& t) { return dominates(t, term); })) return;
    std::erase_if(terms, [&](const Term& other) { return dominates(term, other); });
    terms.push_back(term);
  }

  bool dominates(const Term& a, const Term& b) {
    if (a.expr == b.expr) return true;
    for (size_t i = 0; i < a.samples.size(); ++i)
      // A single sample can refute dominance, and comparing samples is cheap. Most pairs end here.
      if (a.samples[i] < b.samples[i]) return false;
    if (dims::tree_size(a.expr) + dims::tree_size(b.expr) > kLargestCompared) return false;
    if (proofs_.size() >= kMostProofs) return false;
    auto [known, is_new] = proofs_.try_emplace({a.expr, b.expr}, false);
    if (is_new) known->second = prover_.prove(a.expr - b.expr);
    return known->second;
  }

  struct PairHash {
    size_t operator()(const std::pair<DimExpr, DimExpr>& pair) const {
      return hash_value(pair.first) * 31 + hash_value(pair.second);
    }
  };
  dims::DominanceProver prover_;
  // Whether the first expression is never below the second.
  std::unordered_map<std::pair<DimExpr, DimExpr>, bool, PairHash> proofs_;
};

// Sample values of the dims: the least values that the facts allow if `least`, otherwise random
// values of all magnitudes.
std::map<std::string, int64_t> sample_dims(const std::map<std::string, DimFacts>& facts, bool least,
                                           std::mt19937& random) {
  constexpr int64_t kLargest = int64_t{1} << 13;
  std::map<std::string, int64_t> dims;
  for (const auto& [name, fact] : facts) {
    const int64_t first = (fact.min + fact.multiple_of - 1) / fact.multiple_of;
    const int64_t last = std::max(first, std::min(fact.max, kLargest) / fact.multiple_of);
    // All magnitudes are sampled, so that dominance that holds only for small or only for large
    // dims is refuted.
    const int64_t step = int64_t{1} << random() % 14;
    dims[name] = fact.multiple_of *
                 (least ? first : std::min(last, first + static_cast<int64_t>(random()) % step));
  }
  return dims;
}

}  // namespace

std::vector<DimExpr> ShapeProgram::formulas(std::span<const ValueIndex> values) const {
  std::map<ValueIndex, DimExpr> symbols;  // runtime-defined symbols, by their value
  for (const auto& [name, binding] : symbols_)
    // The formula of a data-dependent size ends at its symbol.
    if (binding.segment > SegmentIndex{0}) symbols.emplace(binding.value, DimExpr::symbol(name));
  // Operands precede the values computed from them.
  IndexedVector<ValueIndex, bool> is_needed(instructions_.size());
  for (ValueIndex value : values) is_needed[value] = true;
  for (ValueIndex index : instructions_.indices() | std::views::reverse)
    if (const Instruction& i = instructions_[index];
        is_needed[index] && i.has_operands() && !symbols.contains(index))
      is_needed[i.a] = is_needed[i.b] = true;
  const std::vector<Values> samples = sample_values();
  IndexedVector<ValueIndex, Terms> terms(instructions_.size());
  MaxPlus algebra;
  for (ValueIndex index : instructions_.indices()) {
    if (!is_needed[index]) continue;
    const Instruction& i = instructions_[index];
    if (i.op == Op::kAdd && !symbols.contains(index)) {
      terms[index] = algebra.sum(terms[i.a], terms[i.b]);
    } else if (i.op == Op::kMax && !symbols.contains(index)) {
      terms[index] = algebra.maximum(terms[i.a], terms[i.b]);
    } else {
      Term& term = terms[index].emplace_back();
      for (const Values& values : samples)
        term.samples.push_back(static_cast<double>(values[index]));
      const auto symbol = symbols.find(index);
      term.expr = symbol != symbols.end()
                      ? symbol->second
                      : formula(i, i.has_operands() ? expression_of(terms[i.a]) : DimExpr(),
                                i.has_operands() ? expression_of(terms[i.b]) : DimExpr());
    }
  }
  std::vector<DimExpr> results;
  for (ValueIndex value : values) results.push_back(expression_of(terms[value]));
  return results;
}

DimExpr ShapeProgram::formula(const Instruction& i, DimExpr a, DimExpr b) const {
  switch (i.op) {
    case Op::kConstant:
      return i.immediate;
    case Op::kInputDim:
      return dims_[static_cast<size_t>(i.immediate)];
    case Op::kThreads:
      return DimExpr::symbol(kThreadsSymbol, {.min = 1});
    case Op::kRuntime:
      return runtime_value({static_cast<uint32_t>(i.immediate)});
    default:
      return apply(i.formula_op(), a, b);
  }
}

// The values at sample dims that the facts allow. Samples only reject proofs, so they need not pass
// the checks.
std::vector<ShapeProgram::Values> ShapeProgram::sample_values() const {
  constexpr int kSamples = 16;
  std::map<std::string, DimFacts> facts;
  for (const auto& [name, binding] : symbols_) facts[name];
  for (DimExpr dim : dims_)
    if (dim.kind() == Kind::kSymbol) facts[std::string(dim.symbol_name())] = dim.facts();
  // A fixed seed: the formulas of a model are the same in every compilation.
  std::mt19937 random(1);
  std::vector<Values> samples;
  for (int i = 0; i < kSamples; ++i)
    if (auto values = evaluate(sample_dims(facts, i == 0, random), 1 + i % 5))
      samples.push_back(*std::move(values));
  return samples;
}

}  // namespace scopevm::compiler
