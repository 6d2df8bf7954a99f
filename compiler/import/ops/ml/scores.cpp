// Scores and labels; see scores.h.
#include "compiler/import/ops/ml/scores.h"

#include <numbers>

#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {

using namespace graph;  // NOLINT: formulas read better without the prefix

PostTransform post_transform_of(Node& n) {
  const std::string name = n.text("post_transform", "NONE");
  if (name == "NONE") return PostTransform::kNone;
  if (name == "LOGISTIC") return PostTransform::kLogistic;
  if (name == "SOFTMAX") return PostTransform::kSoftmax;
  if (name == "SOFTMAX_ZERO") return PostTransform::kSoftmaxZero;
  if (name == "PROBIT") return PostTransform::kProbit;
  return n.fail("post_transform is " + runtime::quoted(name) +
                ", expected NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT"),
         PostTransform::kNone;
}

namespace {

// sqrt(2) * erf^-1(2 * x - 1), with the approximation of erf^-1 by S. Winitzki (2008).
Formula probit(const Formula& x) {
  constexpr double kA = 0.147;
  Formula y = x * 2.0 - 1.0;
  Formula logarithm = log((1.0 - y) * (y + 1.0));
  Formula half = logarithm * 0.5 + 2 / (std::numbers::pi * kA);
  Formula root = sqrt(sqrt(half * half - logarithm * (1 / kA)) - half);
  return select(y < 0.0, root * -1.0, root) * std::numbers::sqrt2;
}

// Softmax in which a score near 0 keeps its value, scaled by the factor of the others.
Formula softmax_zero(const Formula& scores) {
  Node& n = scores.node();
  constexpr double kNear = 0.0000001;
  Formula most = greatest_of_row(scores);
  Formula is_other = abs(scores) > kNear;
  Formula powers = select(is_other, exp(scores - most), scores * exp(most * -1.0));
  Formula sum(n, n.reduce_sum(select(is_other, powers, 0.0), {1}));
  // A row without other scores is divided by 1.
  return powers / select(sum == Formula(n, n.scalar(0, sum)), sum.scalar(1), sum);
}

}  // namespace

Formula transformed(const Formula& scores, PostTransform transform) {
  Node& n = scores.node();
  switch (transform) {
    case PostTransform::kNone:
      return scores;
    case PostTransform::kLogistic:
      return scores.unary<SigmoidOp>();
    case PostTransform::kSoftmax:
      return {n, n.emit<SoftmaxOp>({scores}, {n.attr("axis", int64_t{1})})};
    case PostTransform::kSoftmaxZero:
      return softmax_zero(scores);
    case PostTransform::kProbit:
      return probit(scores);
  }
  return scores;
}

Labels labels_of(Node& n, llvm::StringRef numbers, llvm::StringRef strings) {
  Labels labels{n.integers(numbers), n.strings(strings)};
  if (labels.numbers.empty() == labels.strings.empty())
    n.fail("exactly one of the attributes \"" + numbers + "\" and \"" + strings +
           "\" is expected to have entries");
  return labels;
}

Value label_at(Node& n, const Labels& labels, Value indices) {
  Value table = labels.strings.empty() ? n.constant(labels.numbers) : n.constant(labels.strings);
  return n.emit<GatherOp>({table, indices}, {n.attr("axis", int64_t{0})});
}

Value greatest(Node& n, Value scores) {
  return n.emit<ArgMaxOp>({scores}, {n.attr("axis", int64_t{1}), n.attr("keep_dims", false)});
}

Formula greatest_of_row(const Formula& scores) {
  Node& n = scores.node();
  return {n, n.emit<ReduceMaxOp>({scores}, {n.attr("axes", Ints{1}), n.attr("keep_dims", true)})};
}

Formula with_second_score(const Formula& score, SecondScore kind, PostTransform transform) {
  Node& n = score.node();
  Formula first = kind == SecondScore::kComplement ? 1.0 - score : score * -1.0, second = score;
  if (transform == PostTransform::kLogistic) {
    first = (score * -1.0).unary<SigmoidOp>();
    second = score.unary<SigmoidOp>();
  }
  return {n, n.concat({first, second}, 1)};
}

Value rows_of_input(Node& n, Value x) {
  if (!check_rank(n, x, "X", 1, 2) ||
      !check_dtype(n, x, "X", {DType::kF32, DType::kF64, DType::kI64, DType::kI32}))
    return {};
  if (n.rank(x) == 1) x = n.unsqueeze(x, {0});
  return n.cast(x, n.dtype(x) == DType::kF64 ? DType::kF64 : DType::kF32);
}

}  // namespace scopevm::compiler::frontend
