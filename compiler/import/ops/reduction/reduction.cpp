// ONNX reductions, and other ops along one axis.
#include "compiler/graph/type_rule.h"
#include "compiler/import/ops/layout/run_time_axes.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

struct Reduction {
  Ints axes;  // if empty, each element is reduced by itself
  bool keep_dims;
  Value run_time_axes;  // axes that are known only at run time, else null
};

// The axes are an attribute, and from opset `input_since` on an input: 13 for ReduceSum, 18 for the
// other reductions.
Reduction reduction_of(Node& n, Value x, int input_since) {
  Ints axes;
  bool has_axes;
  if (n.opset() >= input_since) {
    has_axes = n.has_input(1) && !n.type(n.input(1)).getElementCount().is_constant(0);
    if (has_axes && !n.is_known(n.input(1))) return {{}, n.flag("keepdims", true), n.input(1)};
    if (has_axes) axes = n.integers_of(n.input(1), "axes");
  } else {
    axes = n.integers("axes");
    has_axes = n.has_attribute("axes");
  }
  if (!has_axes && !n.flag("noop_with_empty_axes", false)) {
    axes = first_axes(n.rank(x));
  }
  return {n.axes(axes, n.rank(x)), n.flag("keepdims", true), {}};
}

// Reduces one axis at a time, each as the middle axis of a view.
template <typename Op>
Value reduce_run_time(Node& n, Value x, const Reduction& r) {
  if (n.has_failed()) return {};
  RunTimeAxes axes(n, r.run_time_axes, x);
  for (const AxisView& view : axes.views())
    x = n.emit<Op>({n.reshape(x, {view.before, view.size, view.after})},
                   {n.attr("axes", Ints{1}), n.attr("keep_dims", true)});
  return n.reshape(x, r.keep_dims ? axes.dims_with_ones() : axes.dims_without());
}

template <typename Op>
Value reduce(Node& n, Value x, const Reduction& r) {
  if (r.run_time_axes) return reduce_run_time<Op>(n, x, r);
  if (r.axes.empty()) return x;
  return n.emit<Op>({x}, {n.attr("axes", r.axes), n.attr("keep_dims", r.keep_dims)});
}

template <typename Op, int kInputSince = 18>
Values reduce(Node& n) {
  Value x = n.input(0);
  return reduce<Op>(n, x, reduction_of(n, x, kInputSince));
}

// Bools are reduced as integers 0 and 1.
template <typename Op>
Values reduce_extreme(Node& n) {
  Value x = n.input(0);
  if (n.dtype(x) != DType::kBool) return reduce<Op>(n);
  Reduction r = reduction_of(n, x, 18);
  return n.cast(reduce<Op>(n, n.cast(x, DType::kU8), r), DType::kBool);
}

Values reduce_l1(Node& n) {
  Value x = n.input(0);
  return reduce<ReduceSumOp>(n, n.emit<AbsOp>({x}), reduction_of(n, x, 18));
}

Value sum_of_squares(Node& n, Value x, const Reduction& r) {
  return reduce<ReduceSumOp>(n, n.emit<MulOp>({x, x}), r);
}

Values reduce_sum_square(Node& n) {
  Value x = n.input(0);
  return sum_of_squares(n, x, reduction_of(n, x, 18));
}

Values reduce_l2(Node& n) {
  Value x = n.input(0);
  return n.emit<SqrtOp>({sum_of_squares(n, x, reduction_of(n, x, 18))});
}

Values reduce_log_sum(Node& n) {
  Value x = n.input(0);
  return n.emit<LogOp>({reduce<ReduceSumOp>(n, x, reduction_of(n, x, 18))});
}

// shift + log(sum(e^(x - shift))). With the maximum as the shift, the largest term of the sum is 1,
// so no term overflows. An infinite maximum is replaced by 0, because x - shift would be NaN.
Values reduce_log_sum_exp(Node& n) {
  Value x = n.input(0);
  auto shift = [&](const Reduction& r) {
    Value most = reduce<ReduceMaxOp>(n, x, r);
    return n.emit<SelectOp>({n.emit<IsInfOp>({most}), n.scalar(0, x), most});
  };
  Reduction r = reduction_of(n, x, 18), keeping = r;
  keeping.keep_dims = true;
  Value shifted = n.emit<SubOp>({x, shift(keeping)});
  Value log = n.emit<LogOp>({reduce<ReduceSumOp>(n, n.emit<ExpOp>({shifted}), r)});
  return n.emit<AddOp>({log, shift(r)});
}

template <typename Op>
Values arg_reduce(Node& n) {
  Value x = n.input(0);
  return n.emit<Op>({x}, {n.attr("axis", n.axis(n.integer("axis", 0), n.rank(x))),
                          n.attr("keep_dims", n.flag("keepdims", true)),
                          n.attr("last", n.flag("select_last_index", false))});
}

template <typename Op>
Values along_axis(Node& n) {
  Value x = n.input(0);
  return n.emit<Op>({x}, {n.attr("axis", n.axis(n.integer("axis", -1), n.rank(x)))});
}

// Reshapes x to a matrix: rows for the dims before `axis`, columns for the others.
Value as_matrix(Node& n, Value x, int64_t axis) {
  llvm::ArrayRef<DimExpr> shape = n.shape(x);
  return n.reshape(x,
                   {element_count(shape.take_front(axis)), element_count(shape.drop_front(axis))});
}

// The attribute `axis`: the first dim that as_matrix() combines into columns. It may be the rank of
// x. A negative axis counts from the rank.
int64_t column_axis(Node& n, Value x) {
  int64_t axis = n.integer("axis", 1), rank = n.rank(x);
  return axis < 0 ? n.axis(axis, rank) : n.axis(axis, rank + 1);
}

// Before opset 13, the op applies to the rows of the operand flattened to a matrix.
template <typename Op>
Values along_rows(Node& n) {
  Value x = n.input(0);
  int64_t rank = n.rank(x), axis = column_axis(n, x);
  if (n.has_failed()) return Value();
  // Each row of the matrix is a slice along the last axis, so no reshape is needed.
  if (axis == rank - 1) return n.emit<Op>({x}, {n.attr("axis", axis)});
  Value matrix = n.emit<Op>({as_matrix(n, x, axis)}, {n.attr("axis", int64_t{1})});
  return n.reshape(matrix, Dims(n.shape(x)));
}

// 1 at the first maximum along the axis, else 0.
Value hardmax_along(Node& n, Value x, int64_t axis) {
  Value index = n.emit<ArgMaxOp>({x}, {n.attr("axis", axis), n.attr("keep_dims", false)});
  Dims depth = {n.dim(x, axis)};
  // 0.0f and 1.0f, little-endian.
  Value values = n.constant({2}, DType::kF32, std::vector<char>{0, 0, 0, 0, 0, 0, '\x80', '\x3f'});
  return n.emit<OneHotOp>({index, n.cast(values, n.dtype(x))},
                          {n.attr("depth", depth), n.attr("axis", axis)});
}

Values hardmax(Node& n) {
  Value x = n.input(0);
  return hardmax_along(n, x, n.axis(n.integer("axis", -1), n.rank(x)));
}

Values hardmax_of_rows(Node& n) {
  Value x = n.input(0);
  int64_t axis = column_axis(n, x);
  if (n.has_failed()) return Value();
  return n.reshape(hardmax_along(n, as_matrix(n, x, axis), 1), Dims(n.shape(x)));
}

template <typename Op>
Value cumulative_along(Node& n, Value x, int64_t axis) {
  return n.emit<Op>({x}, {n.attr("axis", axis), n.attr("exclusive", n.flag("exclusive", false)),
                          n.attr("reverse", n.flag("reverse", false))});
}

template <typename Op>
Values cumulative(Node& n) {
  Value x = n.input(0), given = n.input(1);
  if (n.has_failed()) return Value();
  if (n.dtype(x) == DType::kStr || n.dtype(x) == DType::kBool)
    return n.fail("x is " + text_of(n.type(x)) + ", expected numbers");
  if (!n.type(given).getElementCount().is_constant(1))
    return n.fail("the axis must have 1 element, but is " + text_of(n.type(given)));
  if (n.is_known(given)) {
    const Ints axis = n.integers_of(given, "the axis");
    return n.has_failed() ? Value() : cumulative_along<Op>(n, x, n.axis(axis[0], n.rank(x)));
  }
  RunTimeAxes axis(n, given, x);
  if (n.has_failed()) return Value();
  const AxisView& view = axis.views().front();
  Value lines = n.reshape(x, {view.before, view.size, view.after});
  return n.reshape(cumulative_along<Op>(n, lines, 1), Dims(n.shape(x)));
}

}  // namespace

const OpRows kReductionOps = {
    {"ArgMax", 1, arg_reduce<ArgMaxOp>},
    {"ArgMin", 1, arg_reduce<ArgMinOp>},
    {"CumProd", 26, cumulative<CumProdOp>, OpSignature{"x axis", "exclusive reverse"}},
    {"CumSum", 11, cumulative<CumSumOp>},
    {"Hardmax", 1, hardmax_of_rows},
    {"Hardmax", 13, hardmax},
    {"LogSoftmax", 1, along_rows<LogSoftmaxOp>},
    {"LogSoftmax", 13, along_axis<LogSoftmaxOp>},
    {"ReduceL1", 1, reduce_l1},
    {"ReduceL1", 18, reduce_l1, OpSignature{"data axes?", "keepdims noop_with_empty_axes"}},
    {"ReduceL2", 1, reduce_l2},
    {"ReduceL2", 18, reduce_l2, OpSignature{"data axes?", "keepdims noop_with_empty_axes"}},
    {"ReduceLogSum", 1, reduce_log_sum},
    {"ReduceLogSum", 18, reduce_log_sum,
     OpSignature{"data axes?", "keepdims noop_with_empty_axes"}},
    {"ReduceLogSumExp", 1, reduce_log_sum_exp},
    {"ReduceLogSumExp", 18, reduce_log_sum_exp,
     OpSignature{"data axes?", "keepdims noop_with_empty_axes"}},
    {"ReduceMax", 1, reduce_extreme<ReduceMaxOp>},
    {"ReduceMax", 18, reduce_extreme<ReduceMaxOp>,
     OpSignature{"data axes?", "keepdims noop_with_empty_axes"}},
    {"ReduceMean", 1, reduce<ReduceMeanOp>},
    {"ReduceMean", 18, reduce<ReduceMeanOp>,
     OpSignature{"data axes?", "keepdims noop_with_empty_axes"}},
    {"ReduceMin", 1, reduce_extreme<ReduceMinOp>},
    {"ReduceMin", 18, reduce_extreme<ReduceMinOp>,
     OpSignature{"data axes?", "keepdims noop_with_empty_axes"}},
    {"ReduceProd", 1, reduce<ReduceProdOp>},
    {"ReduceProd", 18, reduce<ReduceProdOp>,
     OpSignature{"data axes?", "keepdims noop_with_empty_axes"}},
    {"ReduceSum", 1, reduce<ReduceSumOp, 13>},
    {"ReduceSumSquare", 1, reduce_sum_square},
    {"ReduceSumSquare", 18, reduce_sum_square,
     OpSignature{"data axes?", "keepdims noop_with_empty_axes"}},
    {"Softmax", 1, along_rows<SoftmaxOp>},
    {"Softmax", 13, along_axis<SoftmaxOp>},
};

}  // namespace scopevm::compiler::frontend
