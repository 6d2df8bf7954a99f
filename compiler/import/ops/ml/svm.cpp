// ai.onnx.ml SVMRegressor and SVMClassifier.
#include <cmath>

#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/ops/ml/scores.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

Value matrix(Node& n, llvm::ArrayRef<float> numbers, int64_t rows, int64_t columns) {
  return n.reshape(n.constant(numbers), {rows, columns});
}

// The kernel of each row of x and each of the `count` support vectors: [n, count].
Formula kernel_of_vectors(Node& n, Value x, int64_t count) {
  const llvm::SmallVector<float> vectors = n.numbers("support_vectors");
  const auto size = static_cast<int64_t>(vectors.size());
  if (!n.has_failed() && (count < 1 || size == 0 || size % count != 0))
    n.fail("support_vectors has " + llvm::Twine(size) + " entries, expected a multiple of " +
           llvm::Twine(count));
  if (n.has_failed()) return {n, Value()};
  n.require_equal(n.dim(x, 1), size / count, "X has {0} columns, expected {1}");
  llvm::SmallVector<float> parameters = n.numbers("kernel_params");
  parameters.resize(3, 0);
  const double gamma = parameters[0], offset = parameters[1], degree = parameters[2];
  Formula table(n, matrix(n, vectors, count, size / count));
  const std::string kind = n.text("kernel_type", "LINEAR");
  if (kind == "RBF") {
    Formula distance = Formula(n, x).unsqueeze({1}) - table;
    Formula squares(n, n.emit<ReduceSumOp>({distance * distance},
                                           {n.attr("axes", Ints{2}), n.attr("keep_dims", false)}));
    return exp(squares * -gamma);
  }
  Formula product(n, n.emit<MatMulOp>({x, table}, {n.attr("transpose_b", true)}));
  if (kind == "LINEAR") return product;
  Formula scaled = product * gamma + offset;
  if (kind == "SIGMOID") return tanh(scaled);
  if (kind == "POLY") return scaled.binary<PowOp>(scaled.scalar(degree));
  return n.fail("kernel_type is " + runtime::quoted(kind) +
                ", expected LINEAR, POLY, RBF or SIGMOID"),
         product;
}

Values svm_regressor(Node& n) {
  Value x = n.cast(rows_of_input(n, n.input(0)), DType::kF32);
  const int64_t count = integer_within(n, "n_supports", 0, 0, int64_t{1} << 30);
  const llvm::SmallVector<float> coefficients = n.numbers("coefficients"), rho = n.numbers("rho");
  if (n.has_failed()) return Value();
  const auto size = static_cast<int64_t>(coefficients.size());
  if (size == 0 || rho.empty() || (count > 0 && size != count))
    return n.fail("coefficients has " + llvm::Twine(size) + " entries and rho " +
                  llvm::Twine(rho.size()) + ", expected one for each support vector, and 1");
  if (count == 0) n.require_equal(n.dim(x, 1), size, "X has {0} columns, expected {1}");
  Formula features = count > 0 ? kernel_of_vectors(n, x, count) : Formula(n, x);
  Formula y = features.binary<MatMulOp>(matrix(n, coefficients, size, 1)) + rho[0];
  if (n.flag("one_class", false)) return select(y > 0.0, y.scalar(1), y.scalar(-1));
  return transformed(y, post_transform_of(n) == PostTransform::kProbit ? PostTransform::kProbit
                                                                       : PostTransform::kNone);
}

// --- SVMClassifier: one score for each pair of classes. -----------------------------------------

struct Pairs {
  int64_t classes = 0;
  std::vector<std::pair<int64_t, int64_t>> classes_of;  // by pair, in lexicographic order
  int64_t count() const { return static_cast<int64_t>(classes_of.size()); }
};

Pairs pairs_of(int64_t classes) {
  Pairs pairs{classes, {}};
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j) pairs.classes_of.emplace_back(i, j);
  return pairs;
}

// [vectors, pairs]: the coefficient of each support vector in the score of each pair. Vectors of
// class i have one coefficient for each other class.
std::vector<float> pair_coefficients(const Pairs& pairs, llvm::ArrayRef<float> coefficients,
                                     const Ints& sizes, int64_t vectors) {
  std::vector<float> result(static_cast<size_t>(vectors * pairs.count()), 0);
  Ints starts = {0};
  for (const int64_t size : sizes) starts.push_back(starts.back() + size);
  for (int64_t p = 0; p < pairs.count(); ++p) {
    const auto [i, j] = pairs.classes_of[static_cast<size_t>(p)];
    auto add = [&](int64_t owner, int64_t row) {
      for (int64_t v = starts[owner]; v < starts[owner + 1]; ++v)
        result[static_cast<size_t>(v * pairs.count() + p)] = coefficients[row * vectors + v];
    };
    add(i, j - 1);
    add(j, i);
  }
  return result;
}

// The index of the class that wins most pairs: the first of equal ones.
Value most_votes(Node& n, const Pairs& pairs, const Formula& scores) {
  const int64_t count = pairs.count(), classes = pairs.classes;
  std::vector<float> first(static_cast<size_t>(count * classes), 0), second = first;
  for (int64_t p = 0; p < count; ++p) {
    const auto [i, j] = pairs.classes_of[static_cast<size_t>(p)];
    first[static_cast<size_t>(p * classes + i)] = 1;
    second[static_cast<size_t>(p * classes + j)] = 1;
  }
  Formula wins = (scores > 0.0).as(DType::kF32);
  Formula votes = wins.binary<MatMulOp>(matrix(n, first, count, classes)) +
                  (1.0 - wins).binary<MatMulOp>(matrix(n, second, count, classes));
  return greatest(n, votes);
}

// The matrices of the probabilities of class i against class j: [n, classes, classes], 0 for i = j.
Formula pair_probabilities(Node& n, const Pairs& pairs, const Formula& scores,
                           llvm::ArrayRef<float> a, llvm::ArrayRef<float> b) {
  Formula x = scores * Formula(n, n.constant(a)) + Formula(n, n.constant(b));
  Formula first = max(min((x * -1.0).unary<SigmoidOp>(), 1 - 1e-7), 1e-7);
  Formula both(n, n.concat({first, 1.0 - first, first * 0.0}, 1));
  const int64_t count = pairs.count(), classes = pairs.classes;
  Ints at(static_cast<size_t>(classes * classes), 2 * count);
  for (int64_t p = 0; p < count; ++p) {
    const auto [i, j] = pairs.classes_of[static_cast<size_t>(p)];
    at[static_cast<size_t>(i * classes + j)] = p;
    at[static_cast<size_t>(j * classes + i)] = count + p;
  }
  return both.gather(n.constant(at), 1).reshape({n.dim(scores, 0), classes, classes});
}

// The probabilities of the classes from those of the pairs: the second method of T.-F. Wu,
// C.-J. Lin and R. C. Weng, "Probability estimates for multi-class classification by pairwise
// coupling" (2004), with the limits of libsvm.
class Coupling {
 public:
  Coupling(Node& n, const Formula& r, int64_t classes)
      : n_(n), classes_(classes), rows_(n.dim(r, 0)), q_(n, Value()) {
    Formula transposed = r.transpose({0, 2, 1});
    Formula diagonal(n, n.reduce_sum(transposed * transposed, {2}));  // [n, classes, 1]
    Formula index = iota(n, classes, DType::kI64);
    Formula is_diagonal = index.unsqueeze({1}) == index;
    q_ = select(is_diagonal, diagonal, transposed * r * -1.0);
  }

  Value probabilities() {
    Value start =
        n_.expand(n_.scalar(1.0 / static_cast<double>(classes_), DType::kF32), {rows_, classes_});
    Value is_done = n_.expand(n_.scalar(0, DType::kBool), {rows_, DimExpr(1)});
    auto results = n_.loop(std::max<int64_t>(100, classes_), {start, is_done},
                           [&](DimExpr, mlir::ValueRange carried) {
                             return step({n_, carried[0]}, {n_, carried[1]});
                           });
    return n_.has_failed() ? Value() : results[0];
  }

 private:
  Iteration step(const Formula& before, const Formula& was_done) {
    Formula p = before;
    Formula product = q_.binary<MatMulOp>(p.unsqueeze({2})).reshape({rows_, classes_});
    Formula total(n_, n_.reduce_sum(p * product, {1}));
    Formula error(n_, n_.emit<ReduceMaxOp>({abs(product - total)},
                                           {n_.attr("axes", Ints{1}), n_.attr("keep_dims", true)}));
    Formula is_done = was_done.binary<OrOp>(error < 0.005 / static_cast<double>(classes_));
    for (int64_t t = 0; t < classes_ && !n_.has_failed(); ++t) {
      Formula row = q_.element_at(1, t), own = row.element_at(1, t, true);
      Formula change = (total - product.element_at(1, t, true)) / own, scale = change + 1.0;
      Formula is_own = iota(n_, classes_, DType::kI64) ==
                       Formula(n_, n_.scalar(static_cast<double>(t), DType::kI64));
      total = (total + change * (change * own + product.element_at(1, t, true) * 2.0)) /
              (scale * scale);
      product = (product + change * row) / scale;
      p = (p + select(is_own, change, change.scalar(0))) / scale;
    }
    return {{}, {select(is_done, before, p), is_done}, {}};
  }

  Node& n_;
  int64_t classes_;
  DimExpr rows_;
  Formula q_;
};

// Without support vectors: one score for each class, the product of X and its coefficients plus
// the first entry of rho. ONNX does not define this case: the results are those of ONNX Runtime.
Values linear_classifier(Node& n, Value x, const Labels& labels, llvm::ArrayRef<float> coefficients,
                         PostTransform transform) {
  const llvm::SmallVector<float> rho = n.numbers("rho");
  const auto size = static_cast<int64_t>(coefficients.size());
  const int64_t classes = labels.count();
  if (size == 0 || size % classes != 0 || rho.empty())
    return n.fail("coefficients has " + llvm::Twine(size) + " entries and rho " +
                  llvm::Twine(rho.size()) + ", expected a multiple of " + llvm::Twine(classes) +
                  ", and 1");
  n.require_equal(n.dim(x, 1), size / classes, "X has {0} columns, expected {1}");
  const Value table = matrix(n, coefficients, classes, size / classes);
  const Formula scores =
      Formula(n, n.emit<MatMulOp>({x, table}, {n.attr("transpose_b", true)})) + rho[0];
  Value index = greatest(n, scores);
  if (n.has_failed()) return Value();
  if (classes == 2 && n.numbers("prob_a").empty()) {
    const bool are_positive = llvm::all_of(coefficients, [](float c) { return c >= 0; });
    const Formula most = greatest_of_row(scores).reshape({n.dim(x, 0)});
    const Formula is_second = are_positive ? most.scalar(0.5) <= most : most > 0.0;
    const Formula first(n, index);
    index = select(is_second, first.scalar(1), first);
  }
  if (classes > 1 || transform == PostTransform::kProbit)
    return {label_at(n, labels, index), transformed(scores, transform)};
  return {label_at(n, labels, index), scores};
}

Values svm_classifier(Node& n) {
  Value x = n.cast(rows_of_input(n, n.input(0)), DType::kF32);
  const Labels labels = labels_of(n, "classlabels_ints", "classlabels_strings");
  const Ints sizes = n.integers("vectors_per_class");
  const llvm::SmallVector<float> coefficients = n.numbers("coefficients"), rho = n.numbers("rho");
  const llvm::SmallVector<float> a = n.numbers("prob_a"), b = n.numbers("prob_b");
  const PostTransform transform = post_transform_of(n);
  if (n.has_failed()) return Value();
  const int64_t classes = labels.count();
  if (llvm::all_of(sizes, [](int64_t size) { return size == 0; }))
    return linear_classifier(n, x, labels, coefficients, transform);
  int64_t vectors = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > (int64_t{1} << 30))
      return n.fail("vectors_per_class has a negative or too large entry");
    vectors += size;
  }
  const Pairs pairs = pairs_of(std::min<int64_t>(classes, 1000));
  const auto count = static_cast<size_t>(pairs.count());
  if (classes < 2 || classes > 1000 || sizes.size() != static_cast<size_t>(classes) ||
      static_cast<int64_t>(coefficients.size()) != (classes - 1) * vectors || rho.size() != count ||
      a.size() != b.size() || (!a.empty() && a.size() != count))
    return n.fail(
        "the sizes of vectors_per_class, coefficients, rho, prob_a and prob_b do not "
        "match " +
        llvm::Twine(classes) + " labels");
  Formula kernel = kernel_of_vectors(n, x, vectors);
  Value w =
      matrix(n, pair_coefficients(pairs, coefficients, sizes, vectors), vectors, pairs.count());
  Formula scores = kernel.binary<MatMulOp>(w) + Formula(n, n.constant(llvm::ArrayRef<float>(rho)));
  Value label = label_at(n, labels, most_votes(n, pairs, scores));
  if (!a.empty()) {
    Formula r = pair_probabilities(n, pairs, scores, a, b);
    if (n.has_failed()) return Value();
    return {label, transformed({n, Coupling(n, r, classes).probabilities()}, transform)};
  }
  if (classes == 2) {
    if (transform == PostTransform::kProbit)
      return n.unsupported("post_transform PROBIT is not supported for one score of two classes");
    // As in ONNX Runtime, the softmax itself is not applied.
    const bool is_softmax =
        transform == PostTransform::kSoftmax || transform == PostTransform::kSoftmaxZero;
    return {label,
            with_second_score(
                scores, is_softmax ? SecondScore::kComplement : SecondScore::kOpposite, transform)};
  }
  return {label, transformed(scores, transform)};
}

}  // namespace

const OpRows kSvmOps = {
    {"SVMClassifier", 1, svm_classifier},
    {"SVMRegressor", 1, svm_regressor},
};

}  // namespace scopevm::compiler::frontend
