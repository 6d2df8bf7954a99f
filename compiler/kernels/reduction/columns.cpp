// softmax and log_softmax along an axis that is not the last. A line is the elements along the axis
// for one index of the other dims. Each lane of a vector processes one line, and adjacent lanes
// process adjacent lines. A work item is a strip of lines.
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/elementwise/space.h"
#include "compiler/kernels/elementwise/vector_math.h"
#include "compiler/kernels/reduction/combine.h"
#include "compiler/kernels/reduction/reduction.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace scopevm::compiler::kernels {
namespace {

constexpr int64_t kLinesPerItem = 64;

template <typename Op>
Term function(Term x, Term (*f32)(Term)) {
  return x.element().isF32() ? f32(x) : x.make<Op>(x);
}

// Adjacent lines, one per lane.
struct Lines {
  KernelBuilder& k;
  Buffer from, to;
  Term length, stride;  // of a line, in elements

  void emit(Term first, const Lanes& lanes, bool is_log) const;

 private:
  // Folds a vector along the lines. `body` receives the position of the current elements and the
  // carried value.
  Term walk(Term first, Term initial, llvm::function_ref<Term(Term at, Term now)> body) const {
    return k.loop(k.index(0), length, 1, {initial},
                  [&](Term i, auto now) { return Terms{body(first + i * stride, now[0])}; })[0];
  }
};

// Emits three passes over the lines: the maximum, the sum of exponentials, and the results.
void Lines::emit(Term first, const Lanes& lanes, bool is_log) const {
  mlir::Type type = k.vector(k.number_type(from), lanes.count);
  auto load = [&](Term at) { return k.load_number(from, at, lanes.count, lanes.mask); };
  Term least = neutral_value(k, Combine::kMax, type, false);
  Term top = walk(first, least, [&](Term at, Term most) {
    Term x = load(at);
    // This maximum can ignore a NaN. The exponential of that element is NaN, so the result is NaN.
    return select(most < x, x, most);
  });
  Term zero = neutral_value(k, Combine::kSum, type, false);
  Term sum = walk(first, zero, [&](Term at, Term sum) {
    return sum + function<mlir::math::ExpOp>(load(at) - top, exp_f32);
  });
  Term by = is_log ? function<mlir::math::LogOp>(sum, log_f32) : 1.0 / sum;
  k.loop(k.index(0), length, 1, [&](Term i) {
    Term at = first + i * stride, shifted = load(at) - top;
    Term y = is_log ? shifted - by : function<mlir::math::ExpOp>(shifted, exp_f32) * by;
    k.store_number(to, at, y, lanes.mask);
  });
}

}  // namespace

llvm::LogicalResult lower_columns(mlir::Operation* op, LoweringContext& context) {
  llvm::ArrayRef<DimExpr> shape = shape_of(op->getOperand(0));
  int64_t axis = op->getAttrOfType<mlir::IntegerAttr>("axis").getInt();
  DimExpr outer = element_count(shape.take_front(axis));
  DimExpr inner = element_count(shape.drop_front(axis + 1));
  DimExpr length = shape[axis];
  KernelBuilder k(context, op, "softmax_columns");
  Buffer from = k.operand(op->getOperand(0), Elements::kNumbers);
  Buffer to = k.result(op->getResult(0), Elements::kNumbers);
  Term axis_size = k.param(length), stride = k.param(inner);
  Term strips = k.param(ceildiv(inner, kLinesPerItem));
  Lines lines{k, from, to, axis_size, stride};
  int lane_count = kernels::lane_count(fused_body(op), k.target());
  k.for_items({k.index(1), strips}, [&](Term, llvm::ArrayRef<Term> index) {
    Term strip = index[1] * kLinesPerItem, block = index[0] * axis_size * stride + strip;
    Term left = min(stride - strip, k.index(kLinesPerItem));
    k.for_lanes(left, lane_count, Tail::kMasked, [&](const Lanes& lanes) {
      lines.emit(block + lanes.offset, lanes, mlir::isa<graph::LogSoftmaxOp>(op));
    });
  });
  return k.launch(outer * ceildiv(inner, kLinesPerItem),
                  grain_of_operations(length * DimExpr(kLinesPerItem), 25));
}

}  // namespace scopevm::compiler::kernels
