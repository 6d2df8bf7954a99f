// arg_max, arg_min and cum_sum: a scalar loop along each line of the axis. Work items are lines.
#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/elementwise/space.h"
#include "compiler/kernels/reduction/combine.h"
#include "compiler/kernels/reduction/reduction.h"

namespace scopevm::compiler::kernels {
namespace {

namespace arith = mlir::arith;
using Values = llvm::SmallVector<mlir::Value>;

struct Line {
  Term first;   // element index
  Term stride;  // between neighbours
  mlir::Value length;
};

// NaN is greater, and less, than every number, as in NumPy.
void emit_arg(KernelDraft& draft, mlir::Operation* op, Buffer from, Buffer to, mlir::Value item,
              const Line& line) {
  mlir::OpBuilder& builder = draft.builder();
  bool is_max = mlir::isa<graph::ArgMaxOp>(op);
  bool wants_last = op->getAttrOfType<mlir::BoolAttr>("last") &&
                    op->getAttrOfType<mlir::BoolAttr>("last").getValue();
  bool unsigned_type = is_unsigned(from.dtype);
  mlir::Type element = arithmetic_type(builder.getContext(), from.dtype);
  Values first{neutral_value(draft, is_max ? Combine::kMax : Combine::kMin, element, unsigned_type),
               draft.index(0).value};
  Values best = for_range(
      draft, draft.index(0).value, line.length, 1, first,
      [&](mlir::Value k, mlir::ValueRange carried) {
        Term x =
            draft.term(load_scalar(draft, from, (line.first + draft.term(k) * line.stride).value));
        Term value = draft.term(carried[0]), index = draft.term(carried[1]);
        Term a = is_max ? value : x, b = is_max ? x : value;
        Term better = wants_last ? less_equal(a, b, unsigned_type) : less(a, b, unsigned_type);
        if (x.is_float()) {
          Term old_is_number = equal(value, value);
          Term nan_wins = is_nan(x);
          if (!wants_last) nan_wins = nan_wins & old_is_number;
          better = better | nan_wins;
        }
        return Values{choose(better, x, value).value, choose(better, draft.term(k), index).value};
      });
  mlir::Value index =
      builder.create<arith::IndexCastOp>(draft.location(), builder.getI64Type(), best[1]);
  store_scalar(draft, to, item, index);
}

void emit_cum_sum(KernelDraft& draft, graph::CumSumOp op, Buffer from, Buffer to,
                  const Line& line) {
  mlir::Type element = arithmetic_type(draft.builder().getContext(), from.dtype);
  Values zero{neutral_value(draft, Combine::kSum, element, false)};
  for_range(draft, draft.index(0).value, line.length, 1, zero,
            [&](mlir::Value k, mlir::ValueRange carried) {
              Term step = draft.term(k);
              if (op.getReverse()) step = draft.term(line.length) - draft.index(1) - step;
              mlir::Value at = (line.first + step * line.stride).value;
              Term before = draft.term(carried[0]);
              Term after = before + draft.term(load_scalar(draft, from, at));
              store_scalar(draft, to, at, op.getExclusive() ? before.value : after.value);
              return Values{after.value};
            });
}

}  // namespace

llvm::LogicalResult lower_lines(mlir::Operation* op, LoweringContext& context) {
  graph::TensorType type = tensor_type(op->getOperand(0));
  int64_t axis = op->getAttrOfType<mlir::IntegerAttr>("axis").getInt();
  DimExpr outer = element_count(type.getShape().take_front(axis));
  DimExpr inner = element_count(type.getShape().drop_front(axis + 1));
  DimExpr length = type.getDim(axis);
  KernelDraft draft(context, op);
  Buffer from = draft.operand(op->getOperand(0)), to = draft.result(op->getResult(0));
  Param length_param = draft.param(length), inner_param = draft.param(inner);
  draft.open();
  Term stride = draft.term(draft.param(inner_param));
  mlir::Value axis_size = draft.param(length_param);
  Values sizes{draft.index(1).value, stride.value};
  for_items(draft, sizes, [&](mlir::Value item, llvm::ArrayRef<mlir::Value> index) {
    Term first = draft.term(index[0]) * draft.term(axis_size) * stride + draft.term(index[1]);
    Line line{first, stride, axis_size};
    if (auto sum = mlir::dyn_cast<graph::CumSumOp>(op))
      emit_cum_sum(draft, sum, from, to, line);
    else
      emit_arg(draft, op, from, to, item, line);
  });
  draft.launch("line", outer * inner, grain_of(length, 4));
  return mlir::success();
}

}  // namespace scopevm::compiler::kernels
