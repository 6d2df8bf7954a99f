// ai.onnx.ml ops that map categories: LabelEncoder, CategoryMapper, OneHotEncoder, ZipMap.
#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// Whether x is equal to each of the keys: bool [x..., keys]. NaN is equal to NaN.
Formula matches(const Formula& x, const Formula& keys) {
  Formula one = x.unsqueeze({x.rank()}), equal = one == keys;
  if (!is_float(x.dtype())) return equal;
  Formula both_nan = one.unary<IsNanOp>() & keys.unary<IsNanOp>();
  return equal.binary<OrOp>(both_nan);
}

// For each element of x, the entry of `values` at the position of the first equal key, or the one
// entry of `otherwise`.
Formula mapped(const Formula& x, const Formula& keys, const Formula& values,
               const Formula& otherwise) {
  Node& n = x.node();
  if (n.has_failed()) return {n, Value()};
  const std::optional<int64_t> count = n.dim(keys, 0).as_constant();
  if (!count || !n.dim(values, 0).is_constant(*count))
    return n.fail("the keys are " + text_of(n.type(keys)) + " and the values " +
                  text_of(n.type(values)) + ", expected equal numbers of both"),
           Formula(n, Value());
  // Rank `count` for the first key, and so on. The table is in the opposite order, after the
  // default: rank 0 is no match.
  Formula ranks = iota(n, *count, DType::kI64, *count, -1);
  Formula found = select(matches(x, keys), ranks, ranks.scalar(0));
  Formula rank(n, n.emit<ReduceMaxOp>({found}, {n.attr("axes", Ints{found.rank() - 1}),
                                                n.attr("keep_dims", false)}));
  Formula table(n, n.concat({otherwise.reshape({1}), values.reversed(0)}, 0));
  return table.gather(rank, 0);
}

// The tensor of an attribute list, whose name ends with strings, int64s or floats.
struct List {
  Value values;
  DType dtype = DType::kI64;
};

// The one list of the attributes `prefix`strings, `prefix`int64s, `prefix`floats and
// `prefix`tensor that has entries.
List list_with(Node& n, const std::string& prefix) {
  const std::vector<std::string> strings = n.strings(prefix + "strings");
  const Ints integers = n.integers(prefix + "int64s");
  const llvm::SmallVector<float> floats = n.numbers(prefix + "floats");
  const onnx::AttributeProto* tensor = n.attribute(prefix + "tensor", onnx::AttributeProto::TENSOR);
  if ((strings.empty() ? 0 : 1) + (integers.empty() ? 0 : 1) + (floats.empty() ? 0 : 1) +
          (tensor ? 1 : 0) !=
      1)
    return n.fail("exactly one of the attributes that start with " + prefix +
                  " is expected to have entries"),
           List();
  if (!strings.empty()) return {n.constant(strings), DType::kStr};
  if (!integers.empty()) return {n.constant(integers), DType::kI64};
  if (!floats.empty()) return {n.constant(llvm::ArrayRef<float>(floats)), DType::kF32};
  Value value = n.constant(tensor->t());
  if (n.has_failed() || !check_rank(n, value, "attribute \"" + prefix + "tensor\"", 1, 1))
    return {};
  return {value, n.dtype(value)};
}

// The default of LabelEncoder, for values of this type.
Value default_of(Node& n, DType dtype) {
  if (const auto* given = n.attribute("default_tensor", onnx::AttributeProto::TENSOR)) {
    Value value = n.constant(given->t());
    if (n.has_failed() || !check_dtype(n, value, "default_tensor", {dtype})) return {};
    return n.reshape(value, {1});
  }
  if (dtype == DType::kStr)
    return n.constant(std::vector<std::string>{n.text("default_string", "_Unused")});
  if (dtype == DType::kF32)
    return n.constant(llvm::ArrayRef<float>({n.number("default_float", -0.0f)}));
  if (dtype == DType::kI64) return n.constant(Ints{n.integer("default_int64", -1)});
  const double otherwise = is_float(dtype) ? -0.0 : -1;
  return n.reshape(n.scalar(otherwise, dtype), {1});
}

Values label_encoder(Node& n) {
  Formula x(n, n.input(0));
  const List keys = list_with(n, "keys_"), values = list_with(n, "values_");
  if (n.has_failed() || !check_dtype(n, x, "X", {keys.dtype})) return Value();
  return mapped(x, {n, keys.values}, {n, values.values}, {n, default_of(n, values.dtype)});
}

// Between strings and their positions in a list, in the direction that the type of x selects.
Values between_strings_and(Node& n, Value strings, Value integers) {
  Formula x(n, n.input(0)), texts(n, strings), numbers(n, integers);
  if (!check_dtype(n, x, "X", {DType::kStr, DType::kI64})) return Value();
  if (x.dtype() == DType::kStr)
    return mapped(x, texts, numbers, {n, n.constant(Ints{n.integer("default_int64", -1)})});
  const std::vector<std::string> otherwise = {n.text("default_string", "_Unused")};
  return mapped(x, numbers, texts, {n, n.constant(otherwise)});
}

Values label_encoder_1(Node& n) {
  const std::vector<std::string> classes = n.strings("classes_strings");
  if (classes.empty()) return missing_attribute(n, "classes_strings");
  return between_strings_and(n, n.constant(classes),
                             n.constant(first_axes(static_cast<int64_t>(classes.size()))));
}

Values category_mapper(Node& n) {
  const std::vector<std::string> strings = n.strings("cats_strings");
  const Ints integers = n.integers("cats_int64s");
  if (strings.empty() || strings.size() != integers.size())
    return n.fail("cats_strings has " + llvm::Twine(strings.size()) + " entries and cats_int64s " +
                  llvm::Twine(integers.size()) + ", expected equal numbers of at least 1");
  return between_strings_and(n, n.constant(strings), n.constant(integers));
}

// A new last axis with 1 at the position of the category and 0 elsewhere.
Values one_hot_encoder(Node& n) {
  Formula x(n, n.input(0));
  const List categories = list_with(n, "cats_");
  if (n.has_failed() ||
      !check_dtype(n, x, "X", {DType::kStr, DType::kI64, DType::kI32, DType::kF32, DType::kF64}))
    return Value();
  if ((x.dtype() == DType::kStr) != (categories.dtype == DType::kStr))
    return n.fail("X is " + text_of(n.type(x)) + ", but the categories are " +
                  text_of(n.type(categories.values)));
  // Numbers are rounded towards zero.
  if (x.dtype() != DType::kStr) x = x.as(DType::kI64);
  Formula is_equal = matches(x, {n, categories.values});
  if (!n.flag("zeros", true)) {
    const Ints last = {is_equal.rank() - 1};
    Value is_known =
        n.emit<ReduceMaxOp>({is_equal}, {n.attr("axes", last), n.attr("keep_dims", false)});
    n.require(n.emit<ReduceMinOp>({is_known}, {n.attr("axes", first_axes(n.rank(is_known))),
                                               n.attr("keep_dims", false)}),
              "X has an unknown category, and attribute \"zeros\" is 0");
  }
  return is_equal.as(DType::kF32);
}

// The result of ZipMap is a list of maps from labels to scores. Its value here is the tensor of
// the scores.
Values zip_map(Node& n) { return n.input(0); }

Values dict_vectorizer(Node& n) { return n.unsupported("maps are not supported as inputs"); }

constexpr char kLabelEncoder4[] =
    "default_float default_int64 default_string default_tensor keys_floats keys_int64s "
    "keys_strings "
    "keys_tensor values_floats values_int64s values_strings values_tensor";

}  // namespace

const OpRows kEncoderOps = {
    {"CategoryMapper", 1, category_mapper},
    {"DictVectorizer", 1, dict_vectorizer},
    {"LabelEncoder", 1, label_encoder_1},
    {"LabelEncoder", 2, label_encoder},
    {"LabelEncoder", 4, label_encoder, OpSignature{"X", kLabelEncoder4}},
    {"OneHotEncoder", 1, one_hot_encoder},
    {"ZipMap", 1, zip_map},
};

}  // namespace scopevm::compiler::frontend
