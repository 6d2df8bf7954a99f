// arg_max, arg_min and cum_sum. A line is the elements along the axis for one index of the other
// dims. A work item is a line, which a scalar loop visits.
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/elementwise/space.h"
#include "compiler/kernels/reduction/combine.h"
#include "compiler/kernels/reduction/reduction.h"

namespace scopevm::compiler::kernels {
namespace {

struct Line {
  Term first;   // position of the first element
  Term stride;  // between adjacent elements of the line
  Term length;
};

// Emits arg_max or arg_min. A NaN is both the maximum and the minimum of its line, as in NumPy.
void emit_arg(KernelBuilder& k, mlir::Operation* op, Buffer from, Buffer to, Term item,
              const Line& line) {
  bool is_max = mlir::isa<graph::ArgMaxOp>(op);
  bool wants_last = op->getAttrOfType<mlir::BoolAttr>("last") &&
                    op->getAttrOfType<mlir::BoolAttr>("last").getValue();
  bool unsigned_type = is_unsigned(from.dtype);
  Term least =
      neutral_value(k, is_max ? Combine::kMax : Combine::kMin, k.number_type(from), unsigned_type);
  Terms best = k.loop(k.index(0), line.length, 1, {least, k.index(0)}, [&](Term i, auto now) {
    Term x = k.load_number(from, line.first + i * line.stride);
    Term value = now[0], a = is_max ? value : x, b = is_max ? x : value;
    // An equal element replaces the best one only if the last index is requested (select_last_index
    // in ONNX).
    Term better = wants_last ? less_equal(a, b, unsigned_type) : less(a, b, unsigned_type);
    if (x.is_float()) {
      Term old_is_number = value == value, nan_wins = is_nan(x);
      // Without `wants_last`, a later NaN does not replace the first one.
      if (!wants_last) nan_wins = nan_wins & old_is_number;
      better = better | nan_wins;
    }
    return Terms{select(better, x, value), select(better, i, now[1])};
  });
  k.store_number(to, item, convert(best[1], k.builder().getI64Type()));
}

void emit_cum_sum(KernelBuilder& k, graph::CumSumOp op, Buffer from, Buffer to, const Line& line) {
  Term zero = neutral_value(k, Combine::kSum, k.number_type(from), false);
  k.loop(k.index(0), line.length, 1, {zero}, [&](Term i, auto now) {
    Term step = op.getReverse() ? line.length - 1 - i : i;
    Term at = line.first + step * line.stride;
    Term before = now[0], after = before + k.load_number(from, at);
    k.store_number(to, at, op.getExclusive() ? before : after);
    return Terms{after};
  });
}

}  // namespace

llvm::LogicalResult lower_lines(mlir::Operation* op, LoweringContext& context) {
  llvm::ArrayRef<DimExpr> shape = shape_of(op->getOperand(0));
  int64_t axis = op->getAttrOfType<mlir::IntegerAttr>("axis").getInt();
  DimExpr outer = element_count(shape.take_front(axis));
  DimExpr inner = element_count(shape.drop_front(axis + 1));
  DimExpr length = shape[axis];
  KernelBuilder k(context, op, "line");
  Buffer from = k.operand(op->getOperand(0), Elements::kNumbers);
  Buffer to = k.result(op->getResult(0), Elements::kNumbers);
  Term axis_size = k.param(length), stride = k.param(inner);
  k.for_items({k.index(1), stride}, [&](Term item, llvm::ArrayRef<Term> index) {
    Line line{index[0] * axis_size * stride + index[1], stride, axis_size};
    if (auto sum = mlir::dyn_cast<graph::CumSumOp>(op))
      emit_cum_sum(k, sum, from, to, line);
    else
      emit_arg(k, op, from, to, item, line);
  });
  return k.launch(outer * inner, grain_of_operations(length, 4));
}

}  // namespace scopevm::compiler::kernels
