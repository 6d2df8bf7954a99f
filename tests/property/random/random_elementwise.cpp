// Random elementwise ops, reductions and ops on rows.
#include <algorithm>

#include "tests/property/random/random_ops.h"

namespace scopevm::compiler::property {
namespace {

// --- Elementwise. --------------------------------------------------------------------------------

bool unary(GraphBuilder& b) {
  const Node* x = b.pick(any);
  if (!x) return false;
  if (is_float(x->dtype()))
    return b.append(
        b.one_of<std::string>({"abs",      "neg",  "exp",   "log",   "sqrt",   "reciprocal",
                               "sin",      "cos",  "tan",   "asin",  "acos",   "atan",
                               "sinh",     "cosh", "tanh",  "asinh", "acosh",  "atanh",
                               "erf",      "ceil", "floor", "round", "sign",   "sigmoid",
                               "softplus", "relu", "relu",  "tanh",  "is_nan", "log1p"}),
        {x});
  if (x->dtype() == DType::kBool) return b.append("not", {x});
  if (is_unsigned(x->dtype()))
    return b.append(b.one_of<std::string>({"bit_not", "sign", "abs"}), {x});
  return b.append(b.one_of<std::string>({"abs", "neg", "sign", "bit_not", "relu"}), {x});
}

bool is_infinite(GraphBuilder& b) {
  return b.append("is_inf", {b.pick(holds_floats)},
                  {{"negative", flag(b, b.chance(70))}, {"positive", flag(b, b.chance(70))}});
}

bool binary(GraphBuilder& b) {
  const Node* x = b.pick(any);
  if (!x) return false;
  const Node* y = b.pick_broadcastable(x->dtype(), {x});
  if (b.chance(50)) std::swap(x, y);
  if (!x || !y) return false;
  if (x->dtype() == DType::kBool)
    return b.append(b.one_of<std::string>({"and", "or", "xor", "equal"}), {x, y});
  std::vector<std::string> names = {"add",     "add",        "sub", "mul",   "mul",
                                    "min",     "max",        "div", "equal", "less",
                                    "greater", "less_equal", "mod", "fmod",  "greater_equal"};
  if (!is_float(x->dtype())) names.insert(names.end(), {"bit_and", "bit_or", "bit_xor"});
  return b.append(b.one_of(names), {x, y});
}

bool philox(GraphBuilder& b) {
  const Node* counter = b.pick([](const Node& node) { return node.dtype() == DType::kU64; });
  if (!counter) return false;
  const Node* key = b.pick_broadcastable(DType::kU64, {counter});
  return b.append("philox", {counter, key, b.fresh(DType::kU64, {})});
}

bool shift(GraphBuilder& b) {
  const Node* x = b.pick(
      [](const Node& node) { return is_unsigned(node.dtype()) && node.dtype() != DType::kBool; });
  if (!x) return false;
  std::vector<int64_t> limits(x->arrays.size(), 8 * byte_size(x->dtype()));
  const Node* bits = b.fresh(x->dtype(), x->dims(), Content::kIndices, limits);
  return b.append(b.chance(50) ? "shift_left" : "shift_right", {x, bits});
}

bool power(GraphBuilder& b) {
  const Node* x = b.pick(holds_numbers);
  if (!x) return false;
  if (b.chance(60)) {
    DType dtype = is_float(x->dtype()) && b.chance(70) ? x->dtype() : DType::kI64;
    Array exponent = make_array(dtype, {});
    exponent.elements[0].value = static_cast<long double>(b.between(is_float(dtype) ? -1 : 0, 4));
    if (is_float(dtype) && b.chance(30)) exponent.elements[0].value = 0.5L;
    return b.append("pow", {x, b.constant(exponent)});
  }
  return b.append("pow", {x, b.pick_broadcastable(b.chance(80) ? x->dtype() : DType::kI64, {x})});
}

bool select(GraphBuilder& b) {
  const Node* x = b.pick(any);
  if (!x) return false;
  const Node* condition = b.pick_broadcastable(DType::kBool, {x});
  if (!condition) return false;
  return b.append("select", {condition, x, b.pick_broadcastable(x->dtype(), {x, condition})});
}

bool cast(GraphBuilder& b) {
  return b.append("cast", {b.pick(any)}, {{"to", text(b, name(b.random_dtype()))}});
}

bool bit_cast(GraphBuilder& b) {
  const Node* x = b.pick(holds_numbers);
  const DType to = b.random_dtype();
  if (!x || to == DType::kBool || byte_size(to) != byte_size(x->dtype())) return false;
  return b.append("bit_cast", {x}, {{"to", text(b, name(to))}});
}

// A new input of a small type, or a value that gets one, as its bits. Its packed form can be a
// result of the graph.
bool small_type(GraphBuilder& b) {
  const auto dtype =
      static_cast<DType>(b.between(static_cast<int64_t>(DType::kI4), kDTypeCount - 1));
  const Node* packed = nullptr;
  if (b.chance(50)) {
    packed = b.fresh(dtype, b.random_dims(b.below(4)));
  } else {
    const Node* x = b.pick([](const Node& node) { return node.dtype() == DType::kU8; });
    if (!b.append("pack_bits", {x}, {{"to", text(b, name(dtype))}})) return false;
    packed = b.newest();
    if (b.chance(30)) return true;
  }
  return b.append("unpack_bits", {packed});
}

// --- Reductions and rows. ------------------------------------------------------------------------

bool reduce(GraphBuilder& b) {
  const Node* x = b.pick(holds_numbers);
  if (!x) return false;
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < x->rank(); ++axis)
    if (b.chance(45)) axes.push_back(axis);
  return b.append("reduce_" + b.one_of<std::string>({"sum", "sum", "mean", "prod", "max", "min"}),
                  {x}, {{"axes", list(b, axes)}, {"keep_dims", flag(b, b.chance(50))}});
}

bool arg_reduce(GraphBuilder& b) {
  const Node* x = b.pick([](const Node& node) { return has_dims(node) && holds_numbers(node); });
  if (!x) return false;
  return b.append(b.chance(50) ? "arg_max" : "arg_min", {x},
                  {{"axis", i64(b, random_axis(b, *x))},
                   {"keep_dims", flag(b, b.chance(50))},
                   {"last", flag(b, b.chance(30))}});
}

bool softmax(GraphBuilder& b) {
  const Node* x = b.pick([](const Node& node) { return has_dims(node) && holds_floats(node); });
  if (!x) return false;
  int64_t axis = b.chance(60) ? x->rank() - 1 : random_axis(b, *x);
  return b.append(b.chance(70) ? "softmax" : "log_softmax", {x}, {{"axis", i64(b, axis)}});
}

bool cumulative(GraphBuilder& b) {
  const Node* x = b.pick([](const Node& node) { return has_dims(node) && holds_numbers(node); });
  if (!x) return false;
  return b.append(b.chance(70) ? "cum_sum" : "cum_prod", {x},
                  {{"axis", i64(b, random_axis(b, *x))},
                   {"exclusive", flag(b, b.chance(40))},
                   {"reverse", flag(b, b.chance(40))}});
}

bool layer_norm(GraphBuilder& b) {
  const Node* x = b.pick([](const Node& node) { return has_dims(node) && holds_floats(node); });
  if (!x) return false;
  int64_t axis = b.chance(60) ? x->rank() - 1 : random_axis(b, *x);
  Dims dims = x->dims();
  dims.erase(dims.begin(), dims.begin() + axis);
  std::vector<const Node*> operands = {x, b.fresh(x->dtype(), dims)};
  if (b.chance(70)) operands.push_back(b.fresh(x->dtype(), dims));
  float epsilon = b.one_of<float>({1e-5f, 1e-3f, 0.1f});
  return b.append("layer_norm", operands,
                  {{"axis", i64(b, axis)}, {"epsilon", b.attributes().getF32FloatAttr(epsilon)}});
}

constexpr Kind kElementwiseKinds[] = {
    {16, unary},     {1, is_infinite}, {22, binary},    {1, shift},      {3, power},
    {4, select},     {5, cast},        {2, bit_cast},   {2, small_type}, {8, reduce},
    {3, arg_reduce}, {4, softmax},     {3, cumulative}, {3, layer_norm}, {2, philox},
};

}  // namespace

llvm::ArrayRef<Kind> elementwise_kinds() { return kElementwiseKinds; }

}  // namespace scopevm::compiler::property
