// Random products, convolutions, poolings and attention.
#include <algorithm>

#include "tests/property/random/random_ops.h"

namespace scopevm::compiler::property {
namespace {

// A new matrix, or the first rows of matrices with more rows, which the kernel of a product reads
// in place.
const Node* matrix(GraphBuilder& b, DType dtype, const Dims& dims) {
  if (dims.size() < 2 || !b.chance(25)) return b.fresh(dtype, dims);
  Dims more = dims;
  more[more.size() - 2] = more[more.size() - 2] + b.between(0, 3);
  const bool is_sliced = b.append("slice", {b.fresh(dtype, more)},
                                  {{"starts", b.dims_attribute(Dims(dims.size(), DimExpr(0)))},
                                   {"sizes", b.dims_attribute(dims)},
                                   {"steps", list(b, std::vector<int64_t>(dims.size(), 1))}});
  return is_sliced ? b.newest() : b.fresh(dtype, dims);
}

// The first rows of the matrices x, with at least one less if possible.
const Node* first_rows(GraphBuilder& b, const Node* x) {
  Dims sizes = x->dims();
  DimExpr& rows = sizes[sizes.size() - 2];
  rows = rows - std::min<int64_t>(b.least(rows), b.between(1, 2));
  const bool is_sliced = b.append("slice", {x},
                                  {{"starts", b.dims_attribute(Dims(sizes.size(), DimExpr(0)))},
                                   {"sizes", b.dims_attribute(sizes)},
                                   {"steps", list(b, std::vector<int64_t>(sizes.size(), 1))}});
  return is_sliced ? b.newest() : x;
}

bool matmul(GraphBuilder& b) {
  const Node* x = b.pick([](const Node& node) { return has_dims(node) && holds_floats(node); });
  if (!x) return false;
  if (x->rank() > 1 && b.chance(20)) x = first_rows(b, x);
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
    y = matrix(b, x->dtype(), right);
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

// A value of rank 3 or more, usually of floats, whose second dim (the channels) is a number.
const Node* image(GraphBuilder& b) {
  const Node* x = b.pick([](const Node& node) {
    return node.rank() >= 3 && holds_floats(node) && node.dims()[1].is_constant();
  });
  if (x && b.chance(60)) return x;
  Dims dims = b.random_dims(b.one_of<int64_t>({3, 4, 4, 4, 5}));
  dims[1] = b.one_of<int64_t>({1, 2, 3, 4, 20, 8});
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

// A convolution of an image as bytes, whose sums become floats.
bool byte_conv(GraphBuilder& b) {
  const Node* x = image(b);
  if (!x || !is_float(x->dtype())) return false;
  RandomWindow window(b, static_cast<size_t>(x->rank() - 2));
  const int64_t channels = *x->dims()[1].as_constant();
  int64_t group = b.chance(35) ? channels : 1;
  if (group == 0) group = 1;
  Dims dims = {DimExpr(group * b.between(1, group > 1 ? 2 : 20)), DimExpr(channels / group)};
  for (int64_t size : window.kernel) dims.push_back(size);
  const auto cast = [&](const Node* from, DType to) {
    return b.append("cast", {from}, {{"to", text(b, name(to))}});
  };
  if (!cast(x, DType::kU8)) return false;
  x = b.newest();
  NamedAttributes attributes = window.attributes(b);
  attributes.push_back({"group", i64(b, group)});
  return b.append("conv", {x, b.fresh(DType::kI8, dims)}, attributes) &&
         cast(b.newest(), DType::kF32);
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

// Keys or values with these dims, perhaps those of fewer heads, each of which is repeated.
const Node* heads(GraphBuilder& b, const Dims& dims, int64_t group) {
  if (group == 1) return matrix(b, DType::kF32, dims);
  Dims narrow = dims;
  narrow[1] = *dims[1].as_constant() / group;
  const Node* x = matrix(b, DType::kF32, narrow);
  narrow.insert(narrow.begin() + 2, DimExpr(1));
  Dims wide = narrow;
  wide[2] = group;
  const auto append = [&](const char* op, const Dims& to) {
    return b.append(op, {x}, {{"dims", b.dims_attribute(to)}}) && (x = b.newest(), true);
  };
  const bool is_repeated =
      append("reshape", narrow) && append("expand", wide) && append("reshape", dims);
  return is_repeated ? x : b.fresh(DType::kF32, dims);
}

// softmax(x y^T) z. In most cases, x y^T is multiplied by a scalar, or y is. Rows whose softmax is
// NaN can be 0.
bool attention(GraphBuilder& b) {
  const Node* x =
      b.pick([](const Node& node) { return node.rank() >= 3 && node.dtype() == DType::kF32; });
  if (!x) return false;
  Dims keys = x->dims(), values = x->dims();
  keys[keys.size() - 2] = values[values.size() - 2] = b.random_dim();
  values.back() = b.random_dim();
  int64_t group = 1;
  if (const auto count = x->dims()[1].as_constant(); x->rank() == 4 && count && b.chance(50))
    for (int64_t factor = 2; factor <= *count; ++factor)
      if (*count % factor == 0) group = factor;
  const Node* y = heads(b, keys, group);
  const Node* z = heads(b, values, group);
  if (b.chance(20) && b.append("mul", {y, b.fresh(DType::kF32, {})})) y = b.newest();
  if (!b.append("matmul", {x, y}, {{"transpose_b", flag(b, true)}})) return false;
  if (b.chance(70) && !b.append("mul", {b.newest(), b.fresh(DType::kF32, {})})) return true;
  const Node* scores = b.newest();
  if (!b.append("softmax", {scores}, {{"axis", i64(b, scores->rank() - 1)}})) return true;
  const Node* weights = b.newest();
  if (b.chance(30)) {
    const Node* zero = b.constant(make_array(DType::kF32, {}));
    if (b.append("is_nan", {weights}) && b.append("select", {b.newest(), zero, weights}))
      weights = b.newest();
  }
  b.append("matmul", {weights, z});
  return true;
}

constexpr Kind kContractionKinds[] = {
    {7, matmul}, {5, conv}, {2, byte_conv}, {3, pool}, {3, attention},
};

}  // namespace

llvm::ArrayRef<Kind> contraction_kinds() { return kContractionKinds; }

}  // namespace scopevm::compiler::property
