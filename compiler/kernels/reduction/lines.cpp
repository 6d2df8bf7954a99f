// arg_max, arg_min, cum_sum and cum_prod. A line is the elements along the axis for one index of
// the other dims. A work item is a line. arg_max and arg_min visit a line of adjacent elements in
// vectors, of which each lane has its own best element. The other lines are visited by a scalar
// loop.
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

// The best element so far, and its position in the line, as i64: scalars, or one per lane.
struct Best {
  Term value, index;
};

// arg_max or arg_min of a line. A NaN is both the maximum and the minimum of its line, as in NumPy.
class ArgLine {
 public:
  ArgLine(KernelBuilder& k, mlir::Operation* op, const Buffer& from)
      : k_(k),
        from_(from),
        is_max_(mlir::isa<graph::ArgMaxOp>(op)),
        is_unsigned_(is_unsigned(from.dtype)) {
    const auto last = op->getAttrOfType<mlir::BoolAttr>("last");
    wants_last_ = last && last.getValue();
  }

  // The position of the best element; 0 for an empty line.
  Term emit(const Line& line, bool is_adjacent) const {
    Best best = none(k_.number_type(from_));
    Term begin = k_.index(0);
    // A vector of bool has no arithmetic.
    if (is_adjacent && from_.dtype != DType::kBool) {
      const int64_t step = kAccumulators * lanes();
      begin = quotient(line.length, step) * step;
      best = best_of_vectors(line, begin);
    }
    Terms found = k_.loop(begin, line.length, 1, {best.value, best.index}, [&](Term i, auto now) {
      const Term x = k_.load_number(from_, line.first + i * line.stride);
      const Best next = later(Best{now[0], now[1]}, x, position(i));
      return Terms{next.value, next.index};
    });
    const Term index = found[1];
    return select(index == kNone, index.integer(0), index);
  }

 private:
  // Independent chains of comparisons, which hide their latency.
  static constexpr int64_t kAccumulators = 4;
  static constexpr int64_t kNone = -1;  // the index if no element is better than the neutral one

  // Positions have 64 bits, so wider vectors would not fit in registers.
  int64_t lanes() const { return k_.target().lanes(byte_size(from_.dtype) > 4 ? 8 : 4); }
  mlir::Type index_type() const { return k_.builder().getI64Type(); }
  Term position(Term i) const { return convert(i, index_type()); }

  Best none(mlir::Type type) const {
    const Term least =
        neutral_value(k_, is_max_ ? Combine::kMax : Combine::kMin, type, is_unsigned_);
    return {least, least.integer(index_type(), kNone)};
  }

  // Whether x is better than `value`, or equal if `or_equal`. Neither counts NaN.
  Term is_better(Term x, Term value, bool or_equal) const {
    const Term a = is_max_ ? value : x, b = is_max_ ? x : value;
    return or_equal ? less_equal(a, b, is_unsigned_) : less(a, b, is_unsigned_);
  }

  // The better one of `best` and an element after it. An equal element replaces the best one only
  // if the last index is requested (select_last_index in ONNX).
  Best later(const Best& best, Term x, Term index) const {
    Term wins = is_better(x, best.value, wants_last_);
    if (x.is_float()) {
      Term nan_wins = is_nan(x);
      // The first NaN stays, unless the last index is requested.
      if (!wants_last_) nan_wins = nan_wins & (best.value == best.value);
      wins = wins | nan_wins;
    }
    return {select(wins, x, best.value), select(wins, index, best.index)};
  }

  // The better one of two elements in any order.
  Best better(const Best& a, const Best& b) const {
    // An index of kNone is larger than all others as an unsigned number, and smaller as a signed
    // one: it wins only if both are.
    Term is_tie = a.value == b.value;
    Term wins = is_better(b.value, a.value, false);
    if (a.value.is_float()) {
      const Term a_is_nan = is_nan(a.value), b_is_nan = is_nan(b.value);
      is_tie = is_tie | (a_is_nan & b_is_nan);
      wins = wins | (b_is_nan & (a.value == a.value));
    }
    wins = wins | (is_tie & (wants_last_ ? a.index < b.index : less(b.index, a.index, true)));
    return {select(wins, b.value, a.value), select(wins, b.index, a.index)};
  }

  // The best one of the elements [0, end) of the line. REQUIRES: `end` is a multiple of
  // kAccumulators * lanes().
  Best best_of_vectors(const Line& line, Term end) const {
    const Best initial = none(k_.vector(k_.number_type(from_), lanes()));
    Terms carried;
    for (int64_t a = 0; a < kAccumulators; ++a) carried.append({initial.value, initial.index});
    // The index of a lane is that of its vector's first lane, until the end of the loop.
    carried = k_.loop(k_.index(0), end, kAccumulators * lanes(), carried, [&](Term i, auto now) {
      Terms next;
      for (int64_t a = 0; a < kAccumulators; ++a) {
        const Term at = i + a * lanes();
        const Best best =
            later(Best{now[2 * a], now[2 * a + 1]}, k_.load_number(from_, line.first + at, lanes()),
                  k_.splat(position(at), lanes()));
        next.append({best.value, best.index});
      }
      return next;
    });
    const Term lane = k_.iota(index_type(), lanes());
    const auto of = [&](int64_t a) {
      const Term start = carried[2 * a + 1];
      return Best{carried[2 * a], select(start == kNone, start, start + lane)};
    };
    Best best = of(0);
    for (int64_t a = 1; a < kAccumulators; ++a) best = better(best, of(a));
    for (int64_t count = lanes() / 2; count > 0; count /= 2)
      best = better({k_.slice(best.value, 0, count), k_.slice(best.index, 0, count)},
                    {k_.slice(best.value, count, count), k_.slice(best.index, count, count)});
    return {k_.extract(best.value, 0), k_.extract(best.index, 0)};
  }

  KernelBuilder& k_;
  Buffer from_;
  bool is_max_, wants_last_ = false, is_unsigned_;
};

template <typename Op>
void emit_cumulative(KernelBuilder& k, Op op, Combine how, Buffer from, Buffer to,
                     const Line& line) {
  const bool is_unsigned = scopevm::is_unsigned(from.dtype);
  Term neutral = neutral_value(k, how, k.number_type(from), is_unsigned);
  k.loop(k.index(0), line.length, 1, {neutral}, [&](Term i, auto now) {
    Term step = op.getReverse() ? line.length - 1 - i : i;
    Term at = line.first + step * line.stride;
    Term before = now[0], after = combine(how, before, k.load_number(from, at), is_unsigned);
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
      emit_cumulative(k, sum, Combine::kSum, from, to, line);
    else if (auto product = mlir::dyn_cast<graph::CumProdOp>(op))
      emit_cumulative(k, product, Combine::kProduct, from, to, line);
    else
      k.store_number(to, item, ArgLine(k, op, from).emit(line, inner.is_constant(1)));
  });
  return k.launch(outer * inner, grain_of_operations(length, 4));
}

}  // namespace scopevm::compiler::kernels
