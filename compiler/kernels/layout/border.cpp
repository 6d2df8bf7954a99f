// pad and trilu: ops whose rows are partly copied and partly filled.
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

struct PaddedAxis {
  DimExpr size;    // of x
  DimExpr before;  // padding before x; a negative number crops x
  DimExpr padded;  // size of the result
  bool is_plain() const { return size == padded && before.is_constant(0); }
};

// Merges an axis without padding into the preceding axis. If the preceding axis is padded, they are
// merged only for constant padding: its border then consists of whole slices.
llvm::SmallVector<PaddedAxis> join(llvm::ArrayRef<PaddedAxis> axes, bool is_constant) {
  llvm::SmallVector<PaddedAxis> joined;
  for (const PaddedAxis& axis : axes) {
    bool joins = !joined.empty() && axis.is_plain() && (is_constant || joined.back().is_plain());
    if (!joins) {
      joined.push_back(axis);
      continue;
    }
    PaddedAxis& last = joined.back();
    last = {last.size * axis.size, last.before * axis.size, last.padded * axis.size};
  }
  if (joined.empty()) joined.push_back({1, 0, 1});
  return joined;
}

class PadKernel {
 public:
  PadKernel(graph::PadOp op, LoweringContext& context)
      : op_(op),
        k_(context, op, ("pad_" + graph::stringifyPadMode(op.getMode())).str()),
        x_(k_.operand(op.getX())) {
    if (op.getValue()) value_ = k_.operand(op.getValue());
    result_ = k_.result(op.getResult());
    llvm::ArrayRef<DimExpr> x = shape_of(op.getX()), y = shape_of(op.getResult());
    llvm::SmallVector<PaddedAxis> axes;
    for (size_t d = 0; d < x.size(); ++d) axes.push_back({x[d], op.getPads().getValue()[d], y[d]});
    axes_ = join(axes, is_constant());
  }

  llvm::LogicalResult lower() {
    Dims x_shape, y_shape;
    for (const PaddedAxis& axis : axes_) {
      x_shape.push_back(axis.size);
      y_shape.push_back(axis.padded);
      sizes_.push_back(k_.param(axis.size));
      befores_.push_back(k_.stride(axis.before));
    }
    for (DimExpr stride : row_major_strides(x_shape)) strides_.push_back(k_.param(stride));
    border_ = is_constant() && value_ ? k_.load(*value_, k_.index(0)) : k_.zero(result_);
    Term row = k_.param(axes_.back().padded);
    Term low = clamp(befores_.back(), k_.index(0), row);
    Term high = clamp(befores_.back() + sizes_.back(), low, row);
    // An empty x has no elements to reflect or repeat. Its result is filled with border_.
    Term has_elements = k_.index(0) < k_.param(element_count(x_shape));
    llvm::SmallVector<Axis> outer;
    Dims y_strides = row_major_strides(y_shape);
    for (size_t d = 0; d + 1 < axes_.size(); ++d) outer.push_back({y_shape[d], {y_strides[d]}});
    k_.for_items(outer, {0}, [&](auto index, auto offsets) {
      Term inside = has_elements, from = k_.index(0);
      for (size_t d = 0; d < index.size(); ++d) {
        Term at = source(d, index[d]);
        inside = inside & (-1 < at) & (at < sizes_[d]);
        from = from + at * strides_[d];
      }
      k_.when(
          inside, [&] { emit_row(from, offsets[0], low, high, row); },
          [&] { k_.fill(result_, offsets[0], row, border_); });
    });
    return k_.launch(count_items(outer),
                     grain_of_bytes(y_shape.back() * byte_size(dtype_of(op_.getX()))));
  }

 private:
  bool is_constant() const {
    graph::PadOp op = op_;
    return op.getMode() == graph::PadMode::kConstant;
  }

  // The index in x along axis d for index i of the result. It is outside x only for a constant
  // border.
  Term source(size_t d, Term i) {
    Term at = i - befores_[d], last = sizes_[d] - 1;
    if (is_constant()) return at;
    if (op_.getMode() == graph::PadMode::kReflect) {
      // Reflects once at either end, without repeating the border element. ONNX requires that pads
      // are shorter than x. The clamp keeps longer pads in bounds.
      at = select(at < 0, k_.index(0) - at, at);
      at = select(last < at, last + last - at, at);
    }
    return clamp(at, k_.index(0), last);
  }

  void emit_border(Term from, Term to, Term low, Term high) {
    if (is_constant()) return k_.fill(result_, to + low, high - low, border_);
    k_.loop(low, high, 1, [&](Term i) {
      k_.store(result_, to + i, k_.load(x_, from + source(axes_.size() - 1, i)));
    });
  }

  void emit_row(Term from, Term to, Term low, Term high, Term row) {
    emit_border(from, to, k_.index(0), low);
    k_.copy(x_, from + low - befores_.back(), result_, to + low, high - low);
    emit_border(from, to, high, row);
  }

  graph::PadOp op_;
  KernelBuilder k_;
  Buffer x_, result_;
  std::optional<Buffer> value_;
  llvm::SmallVector<PaddedAxis> axes_;
  Terms sizes_, befores_, strides_;
  Term border_;
};

}  // namespace

llvm::LogicalResult lower(graph::PadOp op, LoweringContext& context) {
  return PadKernel(op, context).lower();
}

llvm::LogicalResult lower(graph::TriluOp op, LoweringContext& context) {
  KernelBuilder k(context, op, op.getUpper() ? "triu" : "tril");
  Buffer x = k.operand(op.getX()), result = k.result(op.getResult());
  llvm::ArrayRef<DimExpr> shape = shape_of(op.getX());
  size_t rank = shape.size();
  DimExpr columns = shape[rank - 1];
  llvm::SmallVector<Axis> axes = {{product(shape, 0, rank - 2), {columns * shape[rank - 2]}},
                                  {shape[rank - 2], {columns}}};
  Term row = k.param(columns),
       diagonal = k.param(static_cast<int64_t>(op.getK()) + (op.getUpper() ? 0 : 1));
  Term zero = k.zero(result);
  k.for_items(axes, {0}, [&](auto index, auto offsets) {
    Term at = offsets[0], split = clamp(index[1] + diagonal, k.index(0), row);
    if (op.getUpper()) {
      k.fill(result, at, split, zero);
      k.copy(x, at + split, result, at + split, row - split);
    } else {
      k.copy(x, at, result, at, split);
      k.fill(result, at + split, row - split, zero);
    }
  });
  k.allow_in_place(result, x);
  return k.launch(count_items(axes), grain_of_bytes(columns * byte_size(dtype_of(op.getX()))));
}

}  // namespace scopevm::compiler::kernels
