// softmax and log_softmax along an axis that is not the last: lanes are neighbours along the dims
// behind the axis, and each lane walks its own line. Work items are strips of lines.
#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/elementwise/space.h"
#include "compiler/kernels/elementwise/vector_math.h"
#include "compiler/kernels/reduction/combine.h"
#include "compiler/kernels/reduction/reduction.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace scopevm::compiler::kernels {
namespace {

using Values = llvm::SmallVector<mlir::Value>;
constexpr int64_t kStrip = 64;

template <typename Op>
Term function(Term x, Term (*f32)(Term)) {
  if (x.element().isF32()) return f32(x);
  return x.with(x.builder->create<Op>(x.location, x.value));
}

// One vector of lines: greatest, then the sum of exponentials, then the results.
void emit_lines(KernelDraft& draft, Buffer from, Buffer to, Term first, mlir::Value axis,
                Term stride, const Lanes& lanes, bool is_log) {
  mlir::Type element = arithmetic_type(draft.builder().getContext(), from.dtype);
  mlir::VectorType type = lanes_type(element, lanes.count);
  auto walk = [&](Values carried, llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body) {
    return for_range(draft, draft.index(0).value, axis, 1, carried,
                     [&](mlir::Value k, mlir::ValueRange inside) {
                       return body((first + draft.term(k) * stride).value, inside);
                     });
  };
  auto load = [&](mlir::Value at) { return draft.term(load_lanes(draft, from, at, lanes)); };
  Term top = draft.term(walk({neutral_value(draft, Combine::kMax, type, false)},
                             [&](mlir::Value at, mlir::ValueRange most) {
                               Term x = load(at), m = draft.term(most[0]);
                               return Values{choose(less(m, x), x, m).value};
                             })[0]);
  Term sum = draft.term(walk({neutral_value(draft, Combine::kSum, type, false)},
                             [&](mlir::Value at, mlir::ValueRange sum) {
                               Term e = function<mlir::math::ExpOp>(load(at) - top, exp_f32);
                               return Values{(draft.term(sum[0]) + e).value};
                             })[0]);
  Term by = is_log ? function<mlir::math::LogOp>(sum, log_f32) : 1.0 / sum;
  walk({}, [&](mlir::Value at, mlir::ValueRange) {
    Term shifted = load(at) - top;
    Term y = is_log ? shifted - by : function<mlir::math::ExpOp>(shifted, exp_f32) * by;
    store_lanes(draft, to, at, lanes, y.value);
    return Values();
  });
}

}  // namespace

llvm::LogicalResult lower_columns(mlir::Operation* op, LoweringContext& context) {
  graph::TensorType type = tensor_type(op->getOperand(0));
  if (!is_float(type.getDtype())) return op->emitError("needs a floating-point type");
  int64_t axis = op->getAttrOfType<mlir::IntegerAttr>("axis").getInt();
  DimExpr outer = element_count(type.getShape().take_front(axis));
  DimExpr inner = element_count(type.getShape().drop_front(axis + 1));
  DimExpr length = type.getDim(axis);
  KernelDraft draft(context, op);
  Buffer from = draft.operand(op->getOperand(0)), to = draft.result(op->getResult(0));
  Param length_param = draft.param(length), inner_param = draft.param(inner),
        strips_param = draft.param(ceildiv(inner, kStrip));
  int lanes = lane_count(fused_body(op), context.kernels().target());
  draft.open();
  Term stride = draft.term(draft.param(inner_param));
  mlir::Value axis_size = draft.param(length_param);
  Values sizes{draft.index(1).value, draft.param(strips_param)};
  for_items(draft, sizes, [&](mlir::Value, llvm::ArrayRef<mlir::Value> index) {
    Term strip = draft.term(index[1]) * draft.index(kStrip);
    Term block = draft.term(index[0]) * draft.term(axis_size) * stride + strip;
    mlir::Value left = draft.builder().create<mlir::arith::MinUIOp>(
        draft.location(), (stride - strip).value, draft.index(kStrip).value);
    for_lanes(draft, left, lanes, [&](const Lanes& at) {
      emit_lines(draft, from, to, block + draft.term(at.offset), axis_size, stride, at,
                 mlir::isa<graph::LogSoftmaxOp>(op));
    });
  });
  draft.launch("softmax_columns", outer * ceildiv(inner, kStrip),
               grain_of(length * DimExpr(kStrip), 25));
  return mlir::success();
}

}  // namespace scopevm::compiler::kernels
