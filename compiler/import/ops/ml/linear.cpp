// ai.onnx.ml LinearRegressor and LinearClassifier.
#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/ops/ml/scores.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// X * coefficients^T + intercepts, for one row of coefficients for each of `rows` results.
Formula linear_scores(Node& n, Value x, int64_t rows, llvm::ArrayRef<float> intercepts) {
  x = n.cast(rows_of_input(n, x), DType::kF32);
  const llvm::SmallVector<float> coefficients = n.numbers("coefficients");
  const auto count = static_cast<int64_t>(coefficients.size());
  if (n.has_failed()) return {n, Value()};
  if (rows < 1 || count == 0 || count % rows != 0)
    return n.fail("coefficients has " + llvm::Twine(count) + " entries, expected a multiple of " +
                  llvm::Twine(rows)),
           Formula(n, Value());
  n.require_equal(n.dim(x, 1), count / rows, "X has {0} columns, expected {1}");
  Value w = n.reshape(n.constant(llvm::ArrayRef<float>(coefficients)), {rows, count / rows});
  Formula y(n, n.emit<MatMulOp>({x, w}, {n.attr("transpose_b", true)}));
  if (intercepts.empty()) return y;
  if (static_cast<int64_t>(intercepts.size()) != rows)
    return n.fail("intercepts has " + llvm::Twine(intercepts.size()) + " entries, expected " +
                  llvm::Twine(rows)),
           y;
  return y + Formula(n, n.constant(intercepts));
}

Values linear_regressor(Node& n) {
  const int64_t targets = integer_within(n, "targets", 1, 1, int64_t{1} << 20);
  Formula y = linear_scores(n, n.input(0), targets, n.numbers("intercepts"));
  const PostTransform transform = post_transform_of(n);
  if (targets == 1 && transform != PostTransform::kProbit) return y;
  return transformed(y, transform);
}

Values linear_classifier(Node& n) {
  const llvm::SmallVector<float> intercepts = n.numbers("intercepts");
  const Labels labels = labels_of(n, "classlabels_ints", "classlabels_strings");
  const PostTransform transform = post_transform_of(n);
  if (n.has_failed()) return Value();
  const int64_t rows =
      intercepts.empty() ? labels.count() : static_cast<int64_t>(intercepts.size());
  if (rows != labels.count() && !(rows == 1 && labels.count() == 2))
    return n.fail("intercepts has " + llvm::Twine(rows) + " entries for " +
                  llvm::Twine(labels.count()) + " labels");
  if (rows < labels.count() && transform == PostTransform::kProbit)
    return n.unsupported("post_transform PROBIT is not supported for one score of two classes");
  Formula scores = linear_scores(n, n.input(0), rows, intercepts);
  if (n.has_failed()) return Value();
  if (rows > 1 || labels.count() == 1)
    return {label_at(n, labels, greatest(n, scores)), transformed(scores, transform)};
  // One score of two classes.
  Value index = (scores > 0.0).as(DType::kI64).reshape({n.dim(scores, 0)});
  return {label_at(n, labels, index),
          with_second_score(scores, SecondScore::kComplement, transform)};
}

}  // namespace

const OpRows kLinearOps = {
    {"LinearClassifier", 1, linear_classifier},
    {"LinearRegressor", 1, linear_regressor},
};

}  // namespace scopevm::compiler::frontend
