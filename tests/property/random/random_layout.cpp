// Random ops that move elements or create values.
#include <algorithm>

#include "tests/property/random/random_ops.h"

namespace scopevm::compiler::property {
namespace {

bool transpose(GraphBuilder& b) {
  const Node* x = b.pick(any);
  if (!x) return false;
  std::vector<int64_t> permutation;
  for (int64_t i = 0; i < x->rank(); ++i)
    permutation.insert(permutation.begin() + b.between(0, i), i);
  return b.append("transpose", {x}, {{"permutation", list(b, permutation)}});
}

// Merges adjacent dims, splits dims by a factor and inserts dims of 1, each at random.
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

bool insert_slice(GraphBuilder& b) {
  const Node* x = b.pick(has_dims);
  if (!x) return false;
  const int64_t axis = random_axis(b, *x);
  Dims dims = x->dims();
  DimExpr& size = dims[static_cast<size_t>(axis)];
  const int64_t least = b.least(size);
  size = b.between(0, least);
  // At the start, at the end, or between them.
  DimExpr start = b.below(least - *size.as_constant() + 1);
  if (b.chance(30)) start = x->dims()[static_cast<size_t>(axis)] - size;
  return b.append("insert_slice", {x, b.fresh(x->dtype(), dims)},
                  {{"axis", i64(b, axis)}, {"start", b.dims_attribute({start})}});
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

// A value of shape `dims` with valid indices for a dim of size `dim`.
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

// Dims of the indices for x: any size along `axis`, at most the size of x along the others.
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

constexpr Kind kLayoutKinds[] = {
    {5, transpose}, {6, reshape},         {3, expand},
    {5, concat},    {6, slice},           {4, pad},
    {3, gather},    {1, gather_elements}, {1, scatter_elements},
    {1, gather_nd}, {1, scatter_nd},      {2, tile},
    {1, trilu},     {2, top_k},           {2, one_hot},
    {2, iota},      {2, dims_tensor},     {2, insert_slice},
};

}  // namespace

llvm::ArrayRef<Kind> layout_kinds() { return kLayoutKinds; }

}  // namespace scopevm::compiler::property
