// ONNX ops on shapes: ops that query or change a shape, or create a tensor of a given shape.
#include <algorithm>
#include <cstring>

#include "compiler/dims/dim_text.h"
#include "compiler/graph/type_rule.h"
#include "compiler/import/model/onnx_types.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/layout/run_time_axes.h"
#include "compiler/import/ops/op_table.h"
#include "scopevm/tensor.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// The dims in [start, end), with Python's slice semantics.
Values shape(Node& n) {
  Value x = n.input(0);
  int64_t rank = n.rank(x);
  auto bound = [&](llvm::StringRef name, int64_t otherwise) {
    int64_t at = n.integer(name, otherwise);
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  int64_t start = bound("start", 0), end = bound("end", rank);
  return n.dims_value(Dims(n.shape(x).slice(start, std::max<int64_t>(0, end - start))));
}

Values size(Node& n) {
  return n.dims_value({element_count(n.shape(n.input(0)))}, /*is_scalar=*/true);
}

Values constant(Node& n) {
  if (auto* value = n.attribute("value", onnx::AttributeProto::TENSOR)) {
    n.set_small_result(small_type(value->t().data_type()));
    return n.constant(value->t());
  }
  if (auto* value = n.attribute("value_float", onnx::AttributeProto::FLOAT))
    return n.scalar(value->f(), DType::kF32);
  if (n.has_attribute("value_string"))
    return n.reshape(n.constant(std::vector{n.text("value_string", "")}), {});
  if (n.has_attribute("value_strings")) return n.constant(n.strings("value_strings"));
  if (n.has_attribute("value_floats")) return n.constant(n.numbers("value_floats"));
  if (n.has_attribute("value_int")) {
    int64_t value = n.integer("value_int");
    std::vector<char> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return n.constant({}, DType::kI64, bytes);
  }
  if (n.has_attribute("value_ints")) return n.constant(n.integers("value_ints"));
  if (n.proto().attribute_size() == 0) return n.fail("the node has no value attribute");
  return n.unsupported("attribute \"" + n.proto().attribute(0).name() + "\" is not supported");
}

Values constant_of_shape(Node& n) {
  Dims dims = n.dims_of(n.input(0), "the shape");
  Value element = n.scalar(0, DType::kF32);
  if (auto* value = n.attribute("value", onnx::AttributeProto::TENSOR)) {
    n.set_small_result(small_type(value->t().data_type()));
    element = n.constant(value->t());
    if (n.rank(element) > 1)
      return n.fail("attribute \"value\" must have 1 element, but is " + text_of(n.type(element)));
    element = n.reshape(element, {});
  }
  return n.expand(element, dims);
}

// --- Reshape, Flatten, Squeeze, Unsqueeze. ------------------------------------------------------

// Unless allowzero, a dim 0 is the dim of x at its index. A dim -1 is computed from the element
// count.
Values reshape_to(Node& n, Dims dims) {
  Value x = n.input(0);
  if (n.has_failed()) return Value();
  bool allow_zero = n.flag("allowzero", false);
  std::optional<size_t> open;
  DimExpr rest = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].is_constant(-1)) {
      if (open)
        return n.fail("dims " + llvm::Twine(*open) + " and " + llvm::Twine(i) +
                      " are -1, expected at most one");
      open = i;
      continue;
    }
    if (dims[i].is_constant(0) && !allow_zero) dims[i] = n.dim(x, static_cast<int64_t>(i));
    if (dims[i].is_constant() && *dims[i].as_constant() < 0)
      return n.fail("dim " + llvm::Twine(i) + " is " + short_text(dims[i]) +
                    ", expected at least -1");
    rest = rest * dims[i];
  }
  if (open) {
    if (rest.is_constant(0))
      return n.fail("cannot infer dim " + llvm::Twine(*open) + ", which is -1: another dim is 0");
    dims[*open] = floordiv(element_count(n.shape(x)), rest);
  }
  return n.reshape(x, dims);
}

// As reshape_to, for a shape that is known only at run time: tensor ops replace its 0 and -1.
Values reshape_to_read(Node& n) {
  Value x = n.input(0), shape = n.input(1);
  if (is_float(n.dtype(shape)) || n.dtype(shape) == DType::kStr)
    return n.fail("the shape must be i64 or i32, but is " + text_of(n.type(shape)));
  shape = n.cast(shape, DType::kI64);
  if (n.rank(shape) != 1 || !n.dim(shape, 0).is_constant())
    return n.unsupported("the rank of the result is data-dependent: the shape is " +
                         text_of(n.type(shape)) + ", expected rank 1 with a constant size");
  auto is = [&](double value) { return n.emit<EqualOp>({shape, n.scalar(value, shape)}); };
  const auto rank = static_cast<size_t>(*n.dim(shape, 0).as_constant());
  if (rank > size_t{kMaxRank})
    return n.fail("the shape has " + llvm::Twine(rank) + " dims, expected at most " +
                  llvm::Twine(kMaxRank));
  if (!n.flag("allowzero", false)) {
    Dims kept(n.shape(x));
    // A 0 beyond the rank of x stays 0.
    kept.resize(rank, DimExpr(0));
    shape = n.emit<SelectOp>({is(0), n.dims_value(kept), shape});
  }
  // The dim that is -1 counts as 1 in the product of the others.
  Value is_open = is(-1), one = n.scalar(1, shape);
  Value rest = n.emit<ReduceProdOp>({n.emit<SelectOp>({is_open, one, shape})},
                                    {n.attr("axes", Ints{0}), n.attr("keep_dims", true)});
  Value count = n.dims_value({element_count(n.shape(x))});
  Value open = n.emit<DivOp>({count, rest});
  return n.reshape(x, n.dims_of(n.emit<SelectOp>({is_open, open, shape}), "the shape"));
}

Values reshape(Node& n) {
  if (!n.is_known(n.input(1))) return reshape_to_read(n);
  return reshape_to(n, n.dims_of(n.input(1), "the shape", Node::Sign::kAny));
}

Values reshape_with_attribute(Node& n) {
  Ints shape = n.integers("shape");
  return reshape_to(n, Dims(shape.begin(), shape.end()));
}

Values expand(Node& n) { return n.expand(n.input(0), n.dims_of(n.input(1), "the shape")); }

// The axes, which are an attribute, and from opset 13 on an input.
Ints axes_of(Node& n) {
  if (n.opset() < 13) return n.integers("axes");
  return n.has_input(1) ? n.integers_of(n.input(1), "axes") : Ints();
}

// The axes if they are known only at run time, else null.
Value run_time_axes(Node& n) {
  bool is_open = n.opset() >= 13 && n.has_input(1) && !n.is_known(n.input(1));
  return is_open ? n.input(1) : Value();
}

Value squeeze_run_time(Node& n, Value x, Value given) {
  RunTimeAxes axes(n, given, x);
  for (const AxisView& view : axes.views())
    n.require_equal(view.size, 1, "a squeezed dim is {0}, expected {1}");
  return n.reshape(x, axes.dims_without());
}

// Squeeze without axes: removes every dim known to be 1. Ranks are static, so a symbolic dim is
// kept, and a request in which it is 1 is rejected.
Value squeeze_ones(Node& n, Value x) {
  Dims dims;
  for (DimExpr dim : n.shape(x)) {
    if (dim.is_constant(1)) continue;
    dims.push_back(dim);
    if (interval_of(dim).min <= 1 && !dim.is_constant())
      n.require_at_least(
          // dim != 1 as an inequality: the square is 0 only for 1.
          (dim - 1) * (dim - 1), 1,
          "without axes, dim " + short_text(dim) + " must not be 1: the rank would change");
  }
  return n.reshape(x, dims);
}

Values squeeze(Node& n) {
  Value x = n.input(0);
  bool has_axes = n.opset() < 13 ? n.has_attribute("axes") : n.has_input(1);
  if (n.has_failed()) return Value();
  if (!has_axes) return squeeze_ones(n, x);
  if (Value given = run_time_axes(n)) return squeeze_run_time(n, x, given);
  Ints axes = n.axes(axes_of(n), n.rank(x));
  Dims dims;
  for (int64_t axis = 0; axis < n.rank(x); ++axis) {
    DimExpr dim = n.dim(x, axis);
    if (!llvm::is_contained(axes, axis))
      dims.push_back(dim);
    else if (dim.is_constant() && !dim.is_constant(1))
      return n.fail("dim " + llvm::Twine(axis) + " is " + dim.str() + ", expected 1");
  }
  return n.reshape(x, dims);
}

Values unsqueeze(Node& n) {
  Value x = n.input(0), given = run_time_axes(n);
  if (n.has_failed()) return Value();
  return given ? n.reshape(x, dims_with_new_axes(n, given, x)) : n.unsqueeze(x, axes_of(n));
}

Values flatten(Node& n) {
  Value x = n.input(0);
  int64_t axis = n.axis(n.integer("axis", 1), n.rank(x) + 1);
  // A negative axis counts from the rank, although the rank itself is a valid axis.
  if (n.integer("axis", 1) < 0) axis = n.integer("axis", 1) + n.rank(x);
  if (n.has_failed() || axis < 0)
    return n.fail("axis " + llvm::Twine(n.integer("axis", 1)) + " is out of range for " +
                  text_of(n.type(x)) + " of rank " + llvm::Twine(n.rank(x)));
  llvm::ArrayRef<DimExpr> dims = n.shape(x);
  return n.reshape(x, {element_count(dims.take_front(axis)), element_count(dims.drop_front(axis))});
}

Values eye_like(Node& n) {
  Value x = n.input(0);
  if (n.rank(x) != 2) return n.fail("the input must have rank 2, but is " + text_of(n.type(x)));
  DType dtype = n.dtype(x);
  if (n.has_attribute("dtype")) {
    std::optional<DType> wanted = dtype_of_onnx(static_cast<int>(n.integer("dtype")));
    if (!wanted)
      return n.unsupported("element type " + onnx_type_name(static_cast<int>(n.integer("dtype"))) +
                           " is not supported");
    dtype = *wanted;
  }
  int64_t k = n.integer("k", 0);
  auto index = [&](int64_t axis) {
    Formula i = iota(n, n.dim(x, axis), DType::kI64);
    return axis == 0 ? i.unsqueeze({1}) : i;
  };
  // 1 where row + k = column.
  Formula row = index(0) + static_cast<double>(k);
  return (row == index(1)).as(dtype);
}

}  // namespace

const OpRows kShapeOps = {
    {"Constant", 1, constant},   {"ConstantOfShape", 9, constant_of_shape},
    {"Expand", 8, expand},       {"EyeLike", 9, eye_like},
    {"Flatten", 1, flatten},     {"Reshape", 1, reshape_with_attribute},
    {"Reshape", 5, reshape},     {"Shape", 1, shape},
    {"Size", 1, size},           {"Squeeze", 1, squeeze},
    {"Unsqueeze", 1, unsqueeze},
};

}  // namespace scopevm::compiler::frontend
