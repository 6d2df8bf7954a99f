// ai.onnx.ml ops that scale, select and join features.
#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

bool check_numbers(Node& n, Value x) {
  return check_dtype(n, x, "X", {DType::kF32, DType::kF64, DType::kI64, DType::kI32});
}

// A list of numbers with one entry, or one for each column of x, which broadcasts to x. `otherwise`
// if the list is empty.
Value by_column(Node& n, llvm::ArrayRef<float> numbers, llvm::StringRef name, Value x,
                float otherwise) {
  if (numbers.empty()) return n.scalar(otherwise, DType::kF32);
  if (numbers.size() == 1) return n.scalar(numbers[0], DType::kF32);
  n.require_equal(n.dim(x, n.rank(x) - 1), static_cast<int64_t>(numbers.size()),
                  ("X has {0} columns, but " + name + " has {1} entries").str());
  return n.constant(numbers);
}

Values scaler(Node& n) {
  Value x = n.input(0);
  if (!check_numbers(n, x) || !check_rank(n, x, "X", 1, 16)) return Value();
  Formula offset(n, by_column(n, n.numbers("offset"), "offset", x, 0));
  Formula scale(n, by_column(n, n.numbers("scale"), "scale", x, 1));
  return (Formula(n, x).as(DType::kF32) - offset) * scale;
}

Values normalizer(Node& n) {
  Formula x(n, n.input(0));
  if (!check_numbers(n, x) || !check_rank(n, x, "X", 1, 2)) return Value();
  x = x.as(DType::kF32);
  const int64_t last = x.rank() - 1;
  const std::string norm = n.text("norm", "MAX");
  auto one_if_zero = [&](const Formula& sum) {
    return select(sum == Formula(n, n.scalar(0, sum)), sum.scalar(1), sum);
  };
  if (norm == "MAX") {
    const auto along = {n.attr("axes", Ints{last}), n.attr("keep_dims", true)};
    return x / one_if_zero({n, n.emit<ReduceMaxOp>({x}, along)});
  }
  if (norm == "L1") return x / one_if_zero({n, n.reduce_sum(abs(x), {last})});
  if (norm == "L2") return x / one_if_zero(sqrt({n, n.reduce_sum(x * x, {last})}));
  return n.fail("norm is " + runtime::quoted(norm) + ", expected MAX, L1 or L2");
}

// Replaces the elements that are equal to a number, or NaN, by the imputed value of their column.
Values imputer(Node& n) {
  Formula x(n, n.input(0));
  if (!check_numbers(n, x) || !check_rank(n, x, "X", 1, 16)) return Value();
  const bool is_real = is_float(x.dtype());
  Formula imputed(n, Value()), is_missing(n, Value());
  if (is_real) {
    const llvm::SmallVector<float> values = n.numbers("imputed_value_floats");
    if (values.empty()) return missing_attribute(n, "imputed_value_floats");
    imputed = Formula(n, by_column(n, values, "imputed_value_floats", x, 0)).as(x.dtype());
    const float replaced = n.number("replaced_value_float", 0);
    is_missing = replaced != replaced ? x.unary<IsNanOp>() : x == Formula(n, n.scalar(replaced, x));
  } else {
    const Ints values = n.integers("imputed_value_int64s");
    if (values.empty()) return missing_attribute(n, "imputed_value_int64s");
    if (values.size() > 1)
      n.require_equal(n.dim(x, x.rank() - 1), static_cast<int64_t>(values.size()),
                      "X has {0} columns, but imputed_value_int64s has {1} entries");
    Formula all(n, n.constant(values));
    imputed = (values.size() == 1 ? all.reshape({}) : all).as(x.dtype());
    Formula replaced(n, n.constant(Ints{n.integer("replaced_value_int64", 0)}));
    is_missing = x == replaced.reshape({}).as(x.dtype());
  }
  return select(is_missing, imputed, x);
}

Values binarizer(Node& n) {
  Formula x(n, n.input(0));
  if (!check_numbers(n, x)) return Value();
  const double threshold = n.number("threshold", 0);
  // Integers are compared as numbers, so a threshold between two of them has an effect.
  Formula number = is_float(x.dtype()) ? x : x.as(DType::kF64);
  return (number > threshold).as(x.dtype());
}

// The columns of x at the indices Y. A vector is one row.
Values array_feature_extractor(Node& n) {
  Formula x(n, n.input(0)), indices(n, n.input(1));
  if (!check_rank(n, x, "X", 1, 16) || !check_dtype(n, indices, "Y", {DType::kI64})) return Value();
  if (x.rank() == 1) x = x.unsqueeze({0});
  Formula at = indices.reshape({element_count(indices.shape())});
  Formula end = number(n, n.dim(x, x.rank() - 1), DType::kI64);
  Formula is_inside = (at < end) & (at.scalar(0) <= at);
  n.require(n.emit<ReduceMinOp>({is_inside}, {n.attr("axes", Ints{0}), n.attr("keep_dims", false)}),
            "an index of Y is not a column of X");
  return x.gather(at, x.rank() - 1);
}

Values feature_vectorizer(Node& n) {
  const Ints sizes = n.integers("inputdimensions");
  llvm::SmallVector<Value> parts;
  for (Value part : n.inputs()) {
    if (!check_numbers(n, part) || !check_rank(n, part, "an input", 1, 2)) return Value();
    if (n.rank(part) == 1) part = n.unsqueeze(part, {0});
    const size_t index = parts.size();
    if (!sizes.empty()) {
      if (index >= sizes.size())
        return n.fail("inputdimensions has " + llvm::Twine(sizes.size()) +
                      " entries, expected one for each input");
      n.require_equal(n.dim(part, 1), sizes[index],
                      "an input has {0} columns, but its entry of inputdimensions is {1}");
    }
    parts.push_back(n.cast(part, DType::kF32));
  }
  return n.has_failed() ? Value() : n.concat(parts, 1);
}

}  // namespace

const OpRows kFeatureOps = {
    {"ArrayFeatureExtractor", 1, array_feature_extractor},
    {"Binarizer", 1, binarizer},
    {"FeatureVectorizer", 1, feature_vectorizer},
    {"Imputer", 1, imputer},
    {"Normalizer", 1, normalizer},
    {"Scaler", 1, scaler},
};

}  // namespace scopevm::compiler::frontend
