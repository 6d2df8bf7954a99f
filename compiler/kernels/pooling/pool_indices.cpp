// max_pool_indices: the maximum of each window, and the index of the first maximum. A work item is
// one window. pool.cpp implements max_pool, without indices, on vectors.
#include <limits>

#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

struct WindowAxis {
  Term size, kernel, dilation, stride, before;
  Term x_stride;      // stride of positions in x along this axis
  Term index_stride;  // stride of returned indices along this axis
};

class ArgMaxWindows {
 public:
  ArgMaxWindows(graph::MaxPoolIndicesOp op, LoweringContext& context)
      : k_(context, op, "max_pool_indices"),
        x_(k_.operand(op.getX(), Elements::kNumbers)),
        values_(k_.result(op.getValues(), Elements::kNumbers)),
        indices_(k_.result(op.getIndices())),
        x_shape_(shape_of(op.getX())),
        y_shape_(shape_of(op.getValues())) {
    Dims x_strides = row_major_strides(x_shape_), index_strides = x_strides;
    if (op.getByColumn())
      for (size_t d = 2; d < x_shape_.size(); ++d) index_strides[d] = product(x_shape_, 2, d);
    for (size_t d = 0; d + 2 < x_shape_.size(); ++d) {
      axes_.push_back({k_.param(x_shape_[d + 2]), k_.param(op.getKernel()[d]),
                       k_.param(op.getDilations()[d]), k_.param(op.getStrides()[d]),
                       k_.param(op.getPads()[d]), k_.param(x_strides[d + 2]),
                       k_.param(index_strides[d + 2])});
      taps_ = taps_ * op.getKernel()[d];
    }
  }

  llvm::LogicalResult lower() {
    DimExpr planes = product(x_shape_, 0, 2), plane = product(x_shape_, 2, x_shape_.size());
    Dims y_strides = row_major_strides(y_shape_);
    llvm::SmallVector<Axis> items = {{planes, {plane, product(y_shape_, 2, y_shape_.size())}}};
    for (size_t d = 2; d < y_shape_.size(); ++d) items.push_back({y_shape_[d], {0, y_strides[d]}});
    k_.for_items(items, {0, 0}, [&](auto index, auto offsets) {
      Term none = k_.index(-1), nothing = convert(k_.index(0), k_.number_type(x_));
      Terms best = visit(0, index, offsets[0], offsets[0], {none, nothing});
      k_.store_number(values_, offsets[1], best[1]);
      k_.store(indices_, offsets[1], convert(best[0], k_.builder().getI64Type()));
    });
    return k_.launch(count_items(items), grain_of_bytes(taps_ * (4 * byte_size(x_.dtype))));
  }

 private:
  // Visits the window's taps on axes [d, rank). `at` and `index` are the position in x and the
  // returned index that the earlier axes determine. `best` is the index and value of the maximum of
  // the visited taps.
  Terms visit(size_t d, llvm::ArrayRef<Term> window, Term at, Term index, Terms best) {
    if (d == axes_.size()) {
      Term x = k_.load_number(x_, at);
      // A NaN is never the maximum, as in max_pool.
      if (x.is_float())
        x = select(is_nan(x), x.number(-std::numeric_limits<double>::infinity()), x);
      Term is_first = best[0] < 0;
      Term wins = select(is_first, is_first, less(best[1], x, is_unsigned(x_.dtype)));
      return {select(wins, index, best[0]), select(wins, x, best[1])};
    }
    const WindowAxis& axis = axes_[d];
    Term zero = k_.index(0), start = window[d + 1] * axis.stride - axis.before;
    // The number of taps before position `end`.
    auto taps_below = [&](Term end) {
      return min(ceil_quotient(max(end - start, zero), axis.dilation), axis.kernel);
    };
    return k_.loop(taps_below(zero), taps_below(axis.size), 1, best, [&](Term tap, auto now) {
      Term position = start + tap * axis.dilation;
      return visit(d + 1, window, at + position * axis.x_stride,
                   index + position * axis.index_stride, Terms(now));
    });
  }

  KernelBuilder k_;
  Buffer x_, values_, indices_;
  llvm::ArrayRef<DimExpr> x_shape_, y_shape_;
  llvm::SmallVector<WindowAxis> axes_;
  DimExpr taps_ = 1;
};

}  // namespace

llvm::LogicalResult lower(graph::MaxPoolIndicesOp op, LoweringContext& context) {
  return ArgMaxWindows(op, context).lower();
}

}  // namespace scopevm::compiler::kernels
