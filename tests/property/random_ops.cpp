// The ops that a random graph tries: a proposal per kind, which chooses operands and attributes.
// The builder drops what does not fit, so a proposal need only be likely to.
#include <algorithm>

#include "tests/property/graph_builder.h"

namespace scopevm::property {
namespace {

using Proposal = bool (*)(GraphBuilder&);

bool any(const Node&) { return true; }
bool holds_floats(const Node& node) { return is_float(node.dtype()); }
bool holds_numbers(const Node& node) { return node.dtype() != DType::kBool; }
bool has_dims(const Node& node) { return node.rank() > 0; }

mlir::Attribute i64(GraphBuilder& b, int64_t value) {
  return b.attributes().getI64IntegerAttr(value);
}
mlir::Attribute flag(GraphBuilder& b, bool value) { return b.attributes().getBoolAttr(value); }
mlir::Attribute text(GraphBuilder& b, llvm::StringRef value) {
  return b.attributes().getStringAttr(value);
}
mlir::Attribute list(GraphBuilder& b, const std::vector<int64_t>& values) {
  return b.attributes().getDenseI64ArrayAttr(values);
}
int64_t random_axis(GraphBuilder& b, const Node& x) { return b.below(x.rank()); }

// --- Elementwise
// ----------------------------------------------------------------------------------

bool unary(GraphBuilder& b) {
  const Node* x = b.pick(any);
  if (!x) return false;
  if (is_float(x->dtype()))
    return b.append(
        b.one_of<std::string>({"abs",      "neg",  "exp",   "log",   "sqrt",  "reciprocal",
                               "sin",      "cos",  "tan",   "asin",  "acos",  "atan",
                               "sinh",     "cosh", "tanh",  "asinh", "acosh", "atanh",
                               "erf",      "ceil", "floor", "round", "sign",  "sigmoid",
                               "softplus", "relu", "relu",  "tanh",  "is_nan"}),
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
  const Node* y = b.pick_beside(x->dtype(), {x});
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
  return b.append("pow", {x, b.pick_beside(b.chance(80) ? x->dtype() : DType::kI64, {x})});
}

bool select(GraphBuilder& b) {
  const Node* x = b.pick(any);
  if (!x) return false;
  const Node* condition = b.pick_beside(DType::kBool, {x});
  if (!condition) return false;
  return b.append("select", {condition, x, b.pick_beside(x->dtype(), {x, condition})});
}

bool cast(GraphBuilder& b) {
  return b.append("cast", {b.pick(any)}, {{"to", text(b, name(b.random_dtype()))}});
}

// --- Reductions and rows
// --------------------------------------------------------------------------

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

bool cum_sum(GraphBuilder& b) {
  const Node* x = b.pick([](const Node& node) { return has_dims(node) && holds_numbers(node); });
  if (!x) return false;
  return b.append("cum_sum", {x},
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

// --- Contractions
// ---------------------------------------------------------------------------------

bool matmul(GraphBuilder& b) {
  const Node* x = b.pick([](const Node& node) { return has_dims(node) && holds_floats(node); });
  if (!x) return false;
  bool transpose_a = b.chance(20), transpose_b = b.chance(25);
  Dims dims = x->dims();
  DimExpr depth = dims[dims.size() - (transpose_a && dims.size() > 1 ? 2 : 1)];
  const Node* y = nullptr;
  if (b.chance(25))
    y = b.pick([&](const Node& node) { return has_dims(node) && node.dtype() == x->dtype(); });
  if (!y) {
    Dims right = {depth};
    if (b.chance(90)) right.insert(transpose_b ? right.begin() : right.end(), b.random_dim());
    if (right.size() == 2 && b.chance(30))
      for (size_t i = dims.size() > 2 ? dims.size() - 2 : 0; i-- > 0;)
        right.insert(right.begin(), b.chance(30) ? DimExpr(1) : dims[i]);
    y = b.fresh(x->dtype(), right);
  }
  return b.append("matmul", {x, y},
                  {{"transpose_a", flag(b, transpose_a)}, {"transpose_b", flag(b, transpose_b)}});
}

// Attributes of a window over `rank` axes.
struct RandomWindow {
  std::vector<int64_t> kernel, strides, pads, dilations;

  RandomWindow(GraphBuilder& b, size_t rank) {
    bool is_plain = b.chance(40);
    for (size_t i = 0; i < rank; ++i) {
      kernel.push_back(b.between(1, 3));
      strides.push_back(is_plain ? 1 : b.between(1, 3));
      dilations.push_back(is_plain ? 1 : b.between(1, 2));
    }
    for (size_t i = 0; i < 2 * rank; ++i) {
      int64_t reach = (kernel[i % rank] - 1) * dilations[i % rank];
      pads.push_back(b.chance(40) ? std::min<int64_t>(b.between(0, 2), reach) : 0);
    }
  }
  NamedAttributes attributes(GraphBuilder& b) const {
    return {
        {"strides", list(b, strides)}, {"pads", list(b, pads)}, {"dilations", list(b, dilations)}};
  }
};

// A value of rank 3 to 5 with `channels` in its second dim, which must be a number.
const Node* image(GraphBuilder& b) {
  const Node* x = b.pick([](const Node& node) {
    return node.rank() >= 3 && holds_floats(node) && node.dims()[1].is_constant();
  });
  if (x && b.chance(60)) return x;
  Dims dims = b.random_dims(b.one_of<int64_t>({3, 4, 4, 4, 5}));
  dims[1] = b.one_of<int64_t>({1, 2, 3, 4, 6, 8});
  return b.fresh(b.chance(70) ? DType::kF32 : b.random_dtype(), dims);
}

bool conv(GraphBuilder& b) {
  const Node* x = image(b);
  if (!x || !is_float(x->dtype())) return false;
  auto rank = static_cast<size_t>(x->rank() - 2);
  RandomWindow window(b, rank);
  int64_t channels = *x->dims()[1].as_constant(), group = 1;
  if (channels > 0 && b.chance(35)) group = b.chance(50) ? channels : 2;
  if (channels % group != 0) return false;
  bool is_transposed = b.chance(30);
  int64_t multiplier = b.between(1, 4);
  Dims dims =
      is_transposed ? Dims{channels, multiplier} : Dims{group * multiplier, channels / group};
  for (int64_t size : window.kernel) dims.push_back(size);
  std::vector<const Node*> operands = {x, b.fresh(x->dtype(), dims)};
  if (b.chance(50)) operands.push_back(b.fresh(x->dtype(), {group * multiplier}));
  NamedAttributes attributes = window.attributes(b);
  attributes.push_back({"group", i64(b, group)});
  if (is_transposed) {
    std::vector<int64_t> output_pads;
    for (int64_t stride : window.strides) output_pads.push_back(b.below(stride));
    attributes.push_back({"output_pads", list(b, output_pads)});
  }
  return b.append(is_transposed ? "conv_transpose" : "conv", operands, attributes);
}

bool pool(GraphBuilder& b) {
  const Node* x = image(b);
  if (!x || !is_float(x->dtype())) return false;
  RandomWindow window(b, static_cast<size_t>(x->rank() - 2));
  NamedAttributes attributes = window.attributes(b);
  attributes.push_back({"kernel", list(b, window.kernel)});
  attributes.push_back({"ceil_mode", flag(b, b.chance(25))});
  if (b.chance(50)) return b.append("max_pool", {x}, attributes);
  attributes.push_back({"count_pads", flag(b, b.chance(40))});
  return b.append("average_pool", {x}, attributes);
}

// --- Movement
// -------------------------------------------------------------------------------------

bool transpose(GraphBuilder& b) {
  const Node* x = b.pick(any);
  if (!x) return false;
  std::vector<int64_t> permutation;
  for (int64_t i = 0; i < x->rank(); ++i)
    permutation.insert(permutation.begin() + b.between(0, i), i);
  return b.append("transpose", {x}, {{"permutation", list(b, permutation)}});
}

// Merges runs of dims, splits numbers, adds ones.
bool reshape(GraphBuilder& b) {
  const Node* x = b.pick(any);
  if (!x) return false;
  Dims dims;
  bool merges = false;
  for (DimExpr dim : x->dims()) {
    if (merges)
      dims.back() = dims.back() * dim;
    else
      dims.push_back(dim);
    merges = b.chance(35);
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t factor = b.between(2, 4);
    DimExpr rest = floordiv(dims[i], factor);
    if (b.chance(25) && rest * factor == dims[i]) {
      dims[i] = rest;
      dims.insert(dims.begin() + static_cast<int64_t>(i), factor);
    }
  }
  while (dims.size() < 5 && b.chance(20))
    dims.insert(dims.begin() + b.between(0, static_cast<int64_t>(dims.size())), 1);
  return b.append("reshape", {x}, {{"dims", b.dims_attribute(dims)}});
}

bool expand(GraphBuilder& b) {
  const Node* x = b.pick(any);
  if (!x) return false;
  Dims dims = x->dims();
  for (DimExpr& dim : dims)
    if (dim.is_constant(1) && b.chance(70)) dim = b.random_dim();
  while (dims.size() < 5 && b.chance(30)) dims.insert(dims.begin(), b.random_dim());
  return b.append("expand", {x}, {{"dims", b.dims_attribute(dims)}});
}

bool concat(GraphBuilder& b) {
  const Node* x = b.pick(has_dims);
  if (!x) return false;
  int64_t axis = random_axis(b, *x);
  std::vector<const Node*> inputs = {x};
  int64_t more = b.between(0, 2);
  for (int64_t i = 0; i < more; ++i) {
    const Node* next = b.pick([&](const Node& node) {
      if (node.dtype() != x->dtype() || node.rank() != x->rank()) return false;
      for (int64_t k = 0; k < x->rank(); ++k)
        if (k != axis && b.values_of(node.dims()[k]) != b.values_of(x->dims()[k])) return false;
      return true;
    });
    if (b.chance(40)) {
      Dims dims = x->dims();
      dims[static_cast<size_t>(axis)] = b.random_dim();
      next = b.fresh(x->dtype(), dims);
    }
    inputs.push_back(next);
  }
  return b.append("concat", inputs, {{"axis", i64(b, axis)}});
}

bool slice(GraphBuilder& b) {
  const Node* x = b.pick(has_dims);
  if (!x) return false;
  Dims starts, sizes;
  std::vector<int64_t> steps;
  for (DimExpr dim : x->dims()) {
    int64_t least = b.least(dim), skipped = b.chance(50) ? 0 : b.below(std::min<int64_t>(least, 4));
    starts.push_back(skipped);
    sizes.push_back(dim - skipped);
    steps.push_back(1);
    int64_t at = b.below(100);
    if (at < 15) {
      steps.back() = b.between(2, 3);
      sizes.back() = ceildiv(sizes.back(), steps.back());
    } else if (at < 25 && least > 0) {
      steps.back() = b.chance(70) ? -1 : -2;
      starts.back() = dim - 1 - skipped;
      sizes.back() = ceildiv(dim - skipped, -steps.back());
    } else if (at < 45) {
      sizes.back() = b.between(b.chance(5) ? 0 : 1, std::max<int64_t>(1, least - skipped));
    } else if (at < 55) {
      sizes.back() = floordiv(dim, 2);
      if (b.chance(50)) starts.back() = dim - sizes.back();
    }
  }
  return b.append("slice", {x},
                  {{"starts", b.dims_attribute(starts)},
                   {"sizes", b.dims_attribute(sizes)},
                   {"steps", list(b, steps)}});
}

bool pad(GraphBuilder& b) {
  const Node* x = b.pick(has_dims);
  if (!x) return false;
  Dims pads;
  for (int64_t i = 0; i < 2 * x->rank(); ++i) {
    DimExpr amount = b.chance(55) ? 0 : b.between(b.chance(20) ? -1 : 0, 3);
    pads.push_back(b.chance(4) ? b.random_dim() : amount);
  }
  std::vector<const Node*> operands = {x};
  std::string mode = b.one_of<std::string>({"constant", "constant", "reflect", "edge"});
  if (mode == "constant" && b.chance(60)) operands.push_back(b.fresh(x->dtype(), {}));
  return b.append("pad", operands, {{"pads", b.dims_attribute(pads)}, {"mode", text(b, mode)}});
}

// Integers that index dim `axis` of x, of the given dims.
const Node* indices_for(GraphBuilder& b, DimExpr dim, const Dims& dims) {
  return b.fresh(b.chance(70) ? DType::kI64 : DType::kI32, dims, Content::kIndices,
                 b.values_of(dim));
}

bool gather(GraphBuilder& b) {
  const Node* x = b.pick(has_dims);
  if (!x) return false;
  int64_t axis = random_axis(b, *x);
  const Node* indices = nullptr;
  if (b.chance(30))
    indices = b.pick([](const Node& node) {
      return node.dtype() == DType::kI64 || node.dtype() == DType::kI32;
    });
  if (!indices) indices = indices_for(b, x->dims()[axis], b.random_dims(b.between(0, 2)));
  return b.append("gather", {x, indices}, {{"axis", i64(b, axis)}});
}

// The dims of indices beside x: along axis any, else at most x's.
Dims dims_along(GraphBuilder& b, const Node& x, int64_t axis) {
  Dims dims = x.dims();
  for (int64_t i = 0; i < x.rank(); ++i) {
    auto at = static_cast<size_t>(i);
    if (i == axis)
      dims[at] = b.chance(50) ? b.random_dim() : dims[at];
    else if (b.chance(20) && b.least(dims[at]) > 0)
      dims[at] = b.between(1, b.least(dims[at]));
  }
  return dims;
}

bool gather_elements(GraphBuilder& b) {
  const Node* x = b.pick(has_dims);
  if (!x) return false;
  int64_t axis = random_axis(b, *x);
  const Node* indices = indices_for(b, x->dims()[axis], dims_along(b, *x, axis));
  return b.append("gather_elements", {x, indices}, {{"axis", i64(b, axis)}});
}

bool scatter_elements(GraphBuilder& b) {
  const Node* x = b.pick(has_dims);
  if (!x) return false;
  int64_t axis = random_axis(b, *x);
  Dims dims = dims_along(b, *x, axis);
  const Node* indices = indices_for(b, x->dims()[axis], dims);
  std::string reduction = b.one_of<std::string>({"none", "add", "mul", "min", "max"});
  if (x->dtype() == DType::kBool) reduction = "none";
  return b.append("scatter_elements", {x, indices, b.fresh(x->dtype(), dims)},
                  {{"axis", i64(b, axis)}, {"reduction", text(b, reduction)}});
}

bool gather_nd(GraphBuilder& b) {
  const Node* x = b.pick(has_dims);
  if (!x) return false;
  int64_t batch = b.chance(70) ? 0 : b.below(x->rank());
  int64_t depth = b.between(1, std::min<int64_t>(2, x->rank() - batch));
  DimExpr smallest = x->dims()[batch];
  if (depth == 2) smallest = min(smallest, x->dims()[batch + 1]);
  Dims dims = x->dims();
  dims.resize(static_cast<size_t>(batch));
  if (b.chance(70)) dims.push_back(b.random_dim());
  dims.push_back(depth);
  return b.append("gather_nd", {x, indices_for(b, smallest, dims)},
                  {{"batch_dims", i64(b, batch)}});
}

bool scatter_nd(GraphBuilder& b) {
  const Node* x = b.pick(has_dims);
  if (!x) return false;
  int64_t depth = b.between(1, std::min<int64_t>(2, x->rank()));
  DimExpr smallest = x->dims()[0];
  if (depth == 2) smallest = min(smallest, x->dims()[1]);
  Dims indices = b.random_dims(b.between(0, 1)), updates = indices, rest = x->dims();
  indices.push_back(depth);
  updates.append(rest.begin() + depth, rest.end());
  std::string reduction = b.one_of<std::string>({"none", "add", "mul", "min", "max"});
  if (x->dtype() == DType::kBool) reduction = "none";
  return b.append("scatter_nd",
                  {x, indices_for(b, smallest, indices), b.fresh(x->dtype(), updates)},
                  {{"reduction", text(b, reduction)}});
}

bool tile(GraphBuilder& b) {
  const Node* x = b.pick(has_dims);
  if (!x) return false;
  Dims repeats;
  for (int64_t i = 0; i < x->rank(); ++i)
    repeats.push_back(b.chance(60) ? DimExpr(1) : b.chance(10) ? b.random_dim() : b.between(2, 3));
  return b.append("tile", {x}, {{"repeats", b.dims_attribute(repeats)}});
}

bool trilu(GraphBuilder& b) {
  const Node* x = b.pick([](const Node& node) { return node.rank() >= 2; });
  return b.append("trilu", {x},
                  {{"k", i64(b, b.between(-2, 2))}, {"upper", flag(b, b.chance(50))}});
}

bool top_k(GraphBuilder& b) {
  const Node* x = b.pick([](const Node& node) { return has_dims(node) && holds_numbers(node); });
  if (!x) return false;
  int64_t axis = random_axis(b, *x);
  DimExpr dim = x->dims()[axis];
  DimExpr k = b.chance(30) ? dim : DimExpr(b.between(1, std::max<int64_t>(1, b.least(dim))));
  return b.append(
      "top_k", {x},
      {{"k", b.dims_attribute({k})}, {"axis", i64(b, axis)}, {"largest", flag(b, b.chance(60))}});
}

bool one_hot(GraphBuilder& b) {
  const Node* indices = b.pick([](const Node& node) {
    return node.rank() < 5 && !is_float(node.dtype()) && holds_numbers(node);
  });
  if (!indices) return false;
  const Node* values = b.fresh(b.random_dtype(), {2});
  return b.append("one_hot", {indices, values},
                  {{"depth", b.dims_attribute({b.random_dim()})},
                   {"axis", i64(b, b.between(0, indices->rank()))}});
}

// --- Values
// ---------------------------------------------------------------------------------------

bool iota(GraphBuilder& b) {
  DType dtype = b.chance(60) ? DType::kI64 : b.random_dtype();
  if (dtype == DType::kBool) return false;
  auto number = [&](int64_t value) -> mlir::Attribute {
    if (dtype == DType::kF32) return b.attributes().getF32FloatAttr(static_cast<float>(value) / 2);
    if (dtype == DType::kF64) return b.attributes().getF64FloatAttr(static_cast<double>(value) / 2);
    auto width = static_cast<unsigned>(8 * byte_size(dtype));
    if (is_float(dtype)) return nullptr;
    return b.attributes().getIntegerAttr(b.attributes().getIntegerType(width), value);
  };
  bool is_natural = is_unsigned(dtype);
  mlir::Attribute start = number(b.between(is_natural ? 0 : -4, 4));
  mlir::Attribute step = number(b.between(is_natural ? 0 : -2, 2));
  if (!start) return false;
  return b.append("iota", {},
                  {{"size", b.dims_attribute({b.random_dim()})},
                   {"start", start},
                   {"step", step},
                   {"dtype", text(b, name(dtype))}});
}

bool dims_tensor(GraphBuilder& b) {
  const Node* x = b.pick(has_dims);
  if (!x) return false;
  bool scalar = b.chance(30);
  Dims dims = x->dims();
  if (scalar) dims.resize(1);
  DType dtype = b.one_of<DType>({DType::kI64, DType::kI64, DType::kI32, DType::kF32});
  return b.append("dims_tensor", {},
                  {{"dims", b.dims_attribute(dims)},
                   {"scalar", flag(b, scalar)},
                   {"dtype", text(b, name(dtype))}});
}

// --- Control flow: random_regions.cpp
// -------------------------------------------------------------

bool branch(GraphBuilder& b) { return b.append_if(); }
bool loop(GraphBuilder& b) { return b.append_loop(); }
bool read_dims(GraphBuilder& b) { return b.append_read_dims(); }

struct Kind {
  int weight;
  Proposal propose;
};

constexpr Kind kKinds[] = {
    {16, unary},
    {1, is_infinite},
    {22, binary},
    {1, shift},
    {3, power},
    {4, select},
    {5, cast},
    {8, reduce},
    {3, arg_reduce},
    {4, softmax},
    {3, cum_sum},
    {3, layer_norm},
    {7, matmul},
    {5, conv},
    {3, pool},
    {5, transpose},
    {6, reshape},
    {3, expand},
    {5, concat},
    {6, slice},
    {4, pad},
    {3, gather},
    {1, gather_elements},
    {1, scatter_elements},
    {1, gather_nd},
    {1, scatter_nd},
    {2, tile},
    {1, trilu},
    {2, top_k},
    {2, one_hot},
    {2, iota},
    {2, dims_tensor},
    {3, branch},
    {3, loop},
    {3, read_dims},
};

}  // namespace

bool propose_op(GraphBuilder& builder) {
  int64_t total = 0;
  for (const Kind& kind : kKinds) total += kind.weight;
  int64_t at = builder.below(total);
  for (const Kind& kind : kKinds) {
    at -= kind.weight;
    if (at < 0) return kind.propose(builder);
  }
  return false;
}

}  // namespace scopevm::property
