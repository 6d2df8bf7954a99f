// ONNX Einsum: takes diagonals, sums over labels that occur only in one operand and not in the
// result, and then contracts operands pairwise from the left. Each pair becomes one batched matrix
// product, or an elementwise product if nothing is summed.
#include <cctype>
#include <map>

#include "compiler/graph/type_rule.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// A letter. For a dim that an ellipsis represents: kEllipsis + its distance from the last such dim.
using Label = int;
using Labels = llvm::SmallVector<Label>;
constexpr Label kEllipsis = 256;

struct Operand {
  Value value;
  Labels labels;  // one for each dim
};

struct Equation {
  std::vector<std::string> terms;
  std::optional<std::string> result;
};

std::string drop_spaces(const std::string& text) {
  std::string kept;
  for (char c : text)
    if (c != ' ') kept += c;
  return kept;
}

Equation parse(const std::string& text) {
  Equation equation;
  std::string left = drop_spaces(text);
  if (size_t arrow = left.find("->"); arrow != std::string::npos) {
    equation.result = left.substr(arrow + 2);
    left = left.substr(0, arrow);
  }
  for (size_t start = 0; start <= left.size();) {
    size_t comma = std::min(left.find(',', start), left.size());
    equation.terms.push_back(left.substr(start, comma - start));
    start = comma + 1;
  }
  return equation;
}

// The labels of a term whose ellipsis represents `hidden` dims. Fails the node if the term is
// invalid.
std::optional<Labels> labels_of(Node& n, const std::string& term, int64_t hidden) {
  Labels labels;
  bool has_ellipsis = false;
  for (size_t i = 0; i < term.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(term[i]))) {
      labels.push_back(term[i]);
    } else if (term.compare(i, 3, "...") == 0 && !has_ellipsis) {
      for (int64_t d = hidden; d-- > 0;) labels.push_back(kEllipsis + static_cast<int>(d));
      has_ellipsis = true;
      i += 2;
    } else {
      n.fail("equation \"" + n.text("equation", "") + "\": term \"" + term +
             "\" must consist of letters and at most one ellipsis");
      return std::nullopt;
    }
  }
  return labels;
}

int64_t letters_in(const std::string& term) {
  return llvm::count_if(term, [](unsigned char c) { return std::isalpha(c); });
}

int64_t position(const Labels& labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) - labels.begin();
}

// The result labels of an equation without "->": those of the ellipsis, then the letters that occur
// once, sorted.
Labels implicit_result(llvm::ArrayRef<Operand> operands, int64_t hidden) {
  std::map<Label, int> counts;
  for (const Operand& operand : operands)
    for (Label label : operand.labels) ++counts[label];
  Labels labels;
  for (int64_t d = hidden; d-- > 0;) labels.push_back(kEllipsis + static_cast<int>(d));
  // Ascending: upper-case letters come before lower-case ones, as in NumPy.
  for (auto [label, count] : counts)
    if (label < kEllipsis && count == 1) labels.push_back(label);
  return labels;
}

// Merges two dims with one label into their diagonal.
Operand take_diagonal(Node& n, const Operand& x, int64_t first, int64_t second) {
  DimExpr size = n.dim(x.value, first), other = n.dim(x.value, second);
  if (size != other && size.is_constant() && other.is_constant()) {
    n.fail("dims with the same label must be equal, but are " + size.str() + " and " + other.str());
    return x;
  }
  Operand diagonal{
      n.emit<DiagonalOp>({x.value}, {n.attr("first", first), n.attr("second", second)}), x.labels};
  diagonal.labels.erase(diagonal.labels.begin() + second);
  return diagonal;
}

Operand take_diagonals(Node& n, Operand x) {
  for (size_t second = 0; second < x.labels.size() && !n.has_failed();) {
    int64_t first = position(x.labels, x.labels[second]);
    if (first == static_cast<int64_t>(second)) {
      ++second;
      continue;
    }
    x = take_diagonal(n, x, first, static_cast<int64_t>(second));
    // The positions of the axes have changed, so the search starts again.
    second = 0;
  }
  return x;
}

Operand sum_over(Node& n, const Operand& x, llvm::function_ref<bool(Label)> is_summed) {
  Ints axes;
  Operand sum;
  for (auto [axis, label] : llvm::enumerate(x.labels)) {
    if (is_summed(label))
      axes.push_back(static_cast<int64_t>(axis));
    else
      sum.labels.push_back(label);
  }
  if (axes.empty()) return x;
  sum.value = n.emit<ReduceSumOp>({x.value}, {n.attr("axes", axes), n.attr("keep_dims", false)});
  return sum;
}

Value in_order(Node& n, const Operand& x, const Labels& order) {
  if (x.labels == order) return x.value;
  Ints permutation;
  for (Label label : order) permutation.push_back(position(x.labels, label));
  return n.transpose(x.value, permutation);
}

Labels joined(const Labels& a, const Labels& b, const Labels& c = {}) {
  Labels all(a);
  all.append(b);
  all.append(c);
  return all;
}

Dims dims_of(Node& n, const Operand& x, const Labels& labels) {
  Dims dims;
  for (Label label : labels) dims.push_back(n.dim(x.value, position(x.labels, label)));
  return dims;
}

// Reshapes x to [batch..., rows, columns], where rows and columns combine several labels each.
// Swaps rows and columns if that avoids a transpose.
Value as_matrices(Node& n, const Operand& x, const Labels& batch, const Labels& rows,
                  const Labels& columns, bool& is_swapped) {
  Dims dims = dims_of(n, x, batch);
  DimExpr height = element_count(dims_of(n, x, rows)),
          width = element_count(dims_of(n, x, columns));
  // The matrix product reads a transposed operand without a copy.
  is_swapped = !columns.empty() && !rows.empty() && x.labels == joined(batch, columns, rows);
  dims.push_back(is_swapped ? width : height);
  dims.push_back(is_swapped ? height : width);
  Value ordered = is_swapped ? x.value : in_order(n, x, joined(batch, rows, columns));
  return n.reshape(ordered, dims);
}

class Pair {
 public:
  Pair(Node& n, Operand a, Operand b) : n_(n), a_(std::move(a)), b_(std::move(b)) {}

  // The product of both operands, summed over the labels that both have and that neither a later
  // term nor the result has. All other labels of both operands are batch dims. Labels of one
  // operand are rows (of a) or columns (of b).
  Operand product(llvm::function_ref<bool(Label)> is_needed) {
    sum_broadcast_labels(is_needed);
    for (Label label : a_.labels) {
      if (!llvm::is_contained(b_.labels, label))
        only_a_.push_back(label);
      else
        (is_needed(label) ? batch_ : summed_).push_back(label);
    }
    for (Label label : b_.labels)
      if (!llvm::is_contained(a_.labels, label)) only_b_.push_back(label);
    bool swap_a = false, swap_b = false;
    Value a = as_matrices(n_, a_, batch_, only_a_, summed_, swap_a);
    Value b = as_matrices(n_, b_, batch_, summed_, only_b_, swap_b);
    Value product = summed_.empty() ? n_.emit<MulOp>({a, b})
                                    : n_.emit<MatMulOp>({a, b}, {n_.attr("transpose_a", swap_a),
                                                                 n_.attr("transpose_b", swap_b)});
    if (n_.has_failed()) return {};
    // The batch dims are taken from the product, because those of an operand may broadcast.
    Dims dims(n_.shape(product).take_front(static_cast<int64_t>(batch_.size())));
    dims.append(dims_of(n_, a_, only_a_));
    dims.append(dims_of(n_, b_, only_b_));
    return {n_.reshape(product, dims), joined(batch_, only_a_, only_b_)};
  }

 private:
  // Sums both operands over each summed label along which exactly one operand has size 1.
  void sum_broadcast_labels(llvm::function_ref<bool(Label)> is_needed) {
    auto is_broadcast = [&](Label label) {
      int64_t in_a = position(a_.labels, label), in_b = position(b_.labels, label);
      if (is_needed(label) || in_a == n_.rank(a_.value) || in_b == n_.rank(b_.value)) return false;
      // A matrix product cannot broadcast along its depth.
      return n_.dim(a_.value, in_a).is_constant(1) != n_.dim(b_.value, in_b).is_constant(1);
    };
    Labels broadcast;
    for (Label label : a_.labels)
      if (is_broadcast(label)) broadcast.push_back(label);
    auto is_in = [&](Label label) { return llvm::is_contained(broadcast, label); };
    a_ = sum_over(n_, a_, is_in);
    b_ = sum_over(n_, b_, is_in);
  }

  Node& n_;
  Operand a_, b_;
  Labels batch_, summed_, only_a_, only_b_;
};

// Reads the operands and their labels. Returns the largest number of dims that an ellipsis
// represents.
int64_t read_operands(Node& n, const Equation& equation, llvm::SmallVector<Operand>& operands) {
  auto inputs = n.inputs();
  if (inputs.size() != equation.terms.size())
    n.fail("the equation has " + runtime::count_text(equation.terms.size(), "term") +
           ", expected " + llvm::Twine(inputs.size()) + ", one for each input");
  int64_t widest = 0;
  for (size_t i = 0; i < inputs.size() && !n.has_failed(); ++i) {
    int64_t hidden = n.rank(inputs[i]) - letters_in(equation.terms[i]);
    std::optional<Labels> labels = labels_of(n, equation.terms[i], std::max<int64_t>(hidden, 0));
    if (!labels) break;
    if (static_cast<int64_t>(labels->size()) != n.rank(inputs[i])) {
      n.fail("term \"" + equation.terms[i] + "\" is for rank " +
             llvm::Twine(letters_in(equation.terms[i])) +
             (equation.terms[i].find("...") == std::string::npos ? "" : " or more") +
             ", but input " + llvm::Twine(i) + " is " + text_of(n.type(inputs[i])));
      break;
    }
    widest = std::max(widest, hidden);
    operands.push_back({inputs[i], *labels});
  }
  return widest;
}

// Each result label must occur once in the result, and in at least one operand.
bool check_result(Node& n, const Labels& result, llvm::ArrayRef<Operand> operands) {
  for (size_t i = 0; i < result.size(); ++i) {
    bool is_known = llvm::any_of(
        operands, [&](const Operand& x) { return llvm::is_contained(x.labels, result[i]); });
    if (is_known && position(result, result[i]) == static_cast<int64_t>(i)) continue;
    n.fail("equation \"" + n.text("equation", "") + "\": label \"" +
           (result[i] < kEllipsis ? std::string(1, static_cast<char>(result[i])) : "...") +
           (is_known ? "\" occurs twice in the result" : "\" of the result occurs in no term"));
    return false;
  }
  return true;
}

Values einsum(Node& n) {
  Equation equation = parse(n.text("equation", ""));
  llvm::SmallVector<Operand> operands;
  int64_t hidden = read_operands(n, equation, operands);
  if (n.has_failed()) return Value();
  std::optional<Labels> result =
      equation.result ? labels_of(n, *equation.result, hidden) : implicit_result(operands, hidden);
  if (!result || !check_result(n, *result, operands)) return Value();
  // Diagonals first, then sums: the products get smaller operands, whose labels are distinct.
  for (Operand& operand : operands) operand = take_diagonals(n, operand);
  auto needed_after = [&](size_t i) {
    return [&, i](Label label) {
      return llvm::is_contained(*result, label) ||
             llvm::any_of(llvm::ArrayRef(operands).drop_front(i),
                          [&](const Operand& x) { return llvm::is_contained(x.labels, label); });
    };
  };
  for (size_t i = 0; i < operands.size() && !n.has_failed(); ++i) {
    auto only_here = [&](Label label) {
      size_t holders = llvm::count_if(
          operands, [&](const Operand& x) { return llvm::is_contained(x.labels, label); });
      return holders == 1 && !llvm::is_contained(*result, label);
    };
    operands[i] = sum_over(n, operands[i], only_here);
  }
  Operand product = operands.front();
  for (size_t i = 1; i < operands.size() && !n.has_failed(); ++i)
    product = Pair(n, product, operands[i]).product(needed_after(i + 1));
  return in_order(n, product, *result);
}

}  // namespace

const OpRows kEinsumOps = {{"Einsum", 12, einsum}};

}  // namespace scopevm::compiler::frontend
