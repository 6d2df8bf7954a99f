#include "compiler/layouts/by_channel/expand.h"

#include "compiler/graph/convolution/window.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/graph/values/elements.h"
#include "compiler/layouts/blocked/blocked.h"
#include "compiler/layouts/candidate.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::TensorType;
using graph::type_of;

// The weights of the product: [m * taps, c, 1...] for w, [c, m, kernel...].
mlir::Value product_weights(mlir::OpBuilder& builder, graph::ConstantOp w) {
  const Constant source = graph::constant_of_elements(w.getValue(), DType::kF32);
  const auto* from = reinterpret_cast<const float*>(source.data);
  const int64_t channels = source.dims[0];
  const int64_t rows = *type_of(w.getResult()).getElementCount().as_constant() / channels;
  std::vector<float> elements(channels * rows);
  for (int64_t channel = 0; channel < channels; ++channel)
    for (int64_t row = 0; row < rows; ++row)
      elements[row * channels + channel] = from[channel * rows + row];
  llvm::SmallVector<int64_t> dims(source.dims.size(), 1);
  dims[0] = rows;
  dims[1] = channels;
  return constant_of(builder, w, dims, elements);
}

// Replaces `op` by the blocks of elements in `y`, which is [n, m * elements of a block, sizes...],
// and the bias. Elements of the last blocks that are not in the result are removed.
void replace(graph::ConvTransposeOp op, mlir::OpBuilder& builder, mlir::Value y,
             llvm::ArrayRef<int64_t> block) {
  const TensorType product = type_of(y), type = type_of(op.getResult());
  const auto spatial = static_cast<int64_t>(block.size());
  // [n, m, block 0, block 1, ..., size 0, size 1, ...] -> [n, m, size 0, block 0, ...].
  llvm::SmallVector<DimExpr> split = {product.getDim(0), type.getDim(1)};
  llvm::SmallVector<DimExpr> joined = split;
  for (const int64_t size : block) split.push_back(size);
  llvm::append_range(split, product.getShape().drop_front(2));
  llvm::SmallVector<int64_t> order = {0, 1};
  for (int64_t axis = 2; axis < 2 + spatial; ++axis) {
    order.append({axis + spatial, axis});
    joined.push_back(product.getDim(axis) * DimExpr(block[axis - 2]));
  }
  y = reshape(builder, transpose(builder, reshape(builder, y, split), order), joined);
  y = first_elements(builder, y, type.getShape());
  if (op.getBias()) {
    llvm::SmallVector<DimExpr> along(type.getRank(), DimExpr(1));
    along[1] = type.getDim(1);
    y = builder.create<graph::AddOp>(op.getLoc(), type, y, reshape(builder, op.getBias(), along));
  }
  op.getResult().replaceAllUsesWith(y);
  op.erase();
}

void expand(graph::ConvTransposeOp op) {
  mlir::OpBuilder builder(op);
  const TensorType x = type_of(op.getX()), w = type_of(op.getW()), type = type_of(op.getResult());
  const mlir::Value weights =
      product_weights(builder, op.getW().getDefiningOp<graph::ConstantOp>());
  const int64_t spatial = x.getRank() - 2;
  llvm::SmallVector<DimExpr> product(x.getShape());
  product[1] = type_of(weights).getDim(0);
  const llvm::SmallVector<int64_t> ones(spatial, 1), zeros(2 * spatial, 0);
  mlir::Value y = builder.create<graph::ConvOp>(
      op.getLoc(), type.withShape(product), op.getX(), weights, mlir::Value(),
      builder.getDenseI64ArrayAttr(ones), builder.getDenseI64ArrayAttr(zeros),
      builder.getDenseI64ArrayAttr(ones), builder.getI64IntegerAttr(1));
  llvm::SmallVector<int64_t> block;
  for (DimExpr size : w.getShape().drop_front(2)) block.push_back(*size.as_constant());
  replace(op, builder, y, block);
}

// One spatial axis of a transposed convolution as an ordinary one, which computes the elements of
// all phases (see graph::PhaseTaps) from a common window.
struct PhaseAxis {
  int64_t kernel, stride, pad;
  graph::CommonWindow window;
  int64_t after;  // elements after x that are read as zeros

  PhaseAxis(graph::ConvTransposeOp op, int64_t axis)
      : kernel(*type_of(op.getW()).getDim(2 + axis).as_constant()),
        stride(op.getStrides()[axis]),
        pad(op.getPads()[axis]),
        window(graph::common_window(stride, pad, kernel)) {
    const auto spatial = static_cast<int64_t>(op.getStrides().size());
    // The elements of the result after those that belong to the first element of the last block.
    const int64_t rest = op.getOutputPads()[axis] + kernel - pad - op.getPads()[spatial + axis];
    const int64_t blocks = rest > 0 ? (rest + stride - 1) / stride : 0;
    after = std::max<int64_t>(blocks - 1 - window.before + window.size - 1, 0);
  }

  // The element of the window for a tap of a phase.
  int64_t position(const graph::PhaseTaps& phase, int64_t tap) const {
    return phase.shift - tap + window.before;
  }
};

// The weights of the convolution: [m * phases, c / group, window...] for w, [c, m / group,
// kernel...]. An image of one row has an axis 0 of one element.
mlir::Value phase_weights(mlir::OpBuilder& builder, graph::ConvTransposeOp op,
                          llvm::ArrayRef<PhaseAxis> axes) {
  auto w = op.getW().getDefiningOp<graph::ConstantOp>();
  const Constant source = graph::constant_of_elements(w.getValue(), DType::kF32);
  const auto* from = reinterpret_cast<const float*>(source.data);
  const auto group = static_cast<int64_t>(op.getGroup());
  const int64_t channels = source.dims[0] / group, rows = source.dims[1];
  const PhaseAxis& x = axes.back();
  const bool has_rows = axes.size() > 1;
  const int64_t y_stride = has_rows ? axes[0].stride : 1, y_kernel = has_rows ? axes[0].kernel : 1;
  const int64_t y_window = has_rows ? axes[0].window.size : 1;
  const int64_t phases = y_stride * x.stride;
  llvm::SmallVector<int64_t> dims = {group * rows * phases, channels};
  for (const PhaseAxis& axis : axes) dims.push_back(axis.window.size);
  std::vector<float> elements(group * rows * phases * channels * y_window * x.window.size);
  for (int64_t i = 0; i < y_stride; ++i)
    for (int64_t j = 0; j < x.stride; ++j) {
      const graph::PhaseTaps v = has_rows ? graph::phase_taps(i, y_stride, axes[0].pad, y_kernel)
                                          : graph::PhaseTaps{0, 1, 0},
                             u = graph::phase_taps(j, x.stride, x.pad, x.kernel);
      for (int64_t row = 0; row < group * rows; ++row)
        for (int64_t channel = 0; channel < channels; ++channel) {
          const int64_t kernel =
              ((row / rows * channels + channel) * rows + row % rows) * (y_kernel * x.kernel);
          const int64_t window =
              ((row * phases + i * x.stride + j) * channels + channel) * (y_window * x.window.size);
          for (int64_t tap_y = 0; tap_y < v.count; ++tap_y)
            for (int64_t tap_x = 0; tap_x < u.count; ++tap_x) {
              const int64_t line = has_rows ? axes[0].position(v, tap_y) : 0;
              elements[window + line * x.window.size + x.position(u, tap_x)] =
                  from[kernel + (v.first + tap_y * y_stride) * x.kernel + u.first +
                       tap_x * x.stride];
            }
        }
    }
  return constant_of(builder, w, dims, elements);
}

void expand_phases(graph::ConvTransposeOp op) {
  mlir::OpBuilder builder(op);
  const TensorType x = type_of(op.getX());
  const int64_t spatial = x.getRank() - 2;
  llvm::SmallVector<PhaseAxis, 2> axes;
  for (int64_t axis = 0; axis < spatial; ++axis) axes.emplace_back(op, axis);
  const mlir::Value weights = phase_weights(builder, op, axes);
  const TensorType w = type_of(weights);
  const llvm::SmallVector<int64_t> ones(spatial, 1);
  llvm::SmallVector<int64_t> pads(2 * spatial), block;
  for (int64_t axis = 0; axis < spatial; ++axis) {
    pads[axis] = axes[axis].window.before;
    pads[spatial + axis] = axes[axis].after;
    block.push_back(axes[axis].stride);
  }
  llvm::SmallVector<DimExpr> dims = {x.getDim(0), w.getDim(0)};
  for (int64_t axis = 0; axis < spatial; ++axis)
    dims.push_back(graph::window_count({ones, pads, ones}, axis, x.getDim(2 + axis),
                                       w.getDim(2 + axis), /*ceil=*/false));
  const mlir::Value y = builder.create<graph::ConvOp>(
      op.getLoc(), type_of(op.getResult()).withShape(dims), op.getX(), weights, mlir::Value(),
      builder.getDenseI64ArrayAttr(ones), builder.getDenseI64ArrayAttr(pads),
      builder.getDenseI64ArrayAttr(ones), op.getGroupAttr());
  replace(op, builder, y, block);
}

// Whether constants and placement permit a rewrite.
bool is_free(graph::ConvTransposeOp op) {
  const TensorType w = type_of(op.getW());
  return op.getW().getDefiningOp<graph::ConstantOp>() && !graph::has_scope(w) &&
         w.getDtype() == DType::kF32 && !w.getElementCount().is_constant(0) &&
         type_of(op.getX()).getDim(1) == w.getDim(0) && !graph::has_placement_attributes(op) &&
         !op->hasAttr(graph::kLocalAttribute);
}

bool is_expanded(graph::ConvTransposeOp op) { return is_disjoint(op) && is_free(op); }

// Whether expand_phases() has a faster kernel, and few products with zeros.
bool has_phases(graph::ConvTransposeOp op) {
  constexpr int64_t kMostStride = 16, kMostWeights = 1 << 24;
  const TensorType w = type_of(op.getW());
  const int64_t spatial = w.getRank() - 2;
  if (!is_free(op) || spatial > 2 || !w.isStatic()) return false;
  DimExpr weights = w.getDim(0) * w.getDim(1);
  for (int64_t axis = 0; axis < spatial; ++axis) {
    if (op.getDilations()[axis] != 1 || op.getStrides()[axis] > kMostStride ||
        *w.getDim(2 + axis).as_constant() <= op.getPads()[axis])
      return false;
    const PhaseAxis a(op, axis);
    weights = weights * DimExpr(a.stride * a.window.size);
  }
  return *weights.as_constant() <= kMostWeights;
}

// The elements that one element of each channel of x produces. REQUIRES: is_expanded(op).
int64_t block_elements(graph::ConvTransposeOp op) {
  const TensorType w = type_of(op.getW());
  return *w.getElementCount().as_constant() / *w.getDim(0).as_constant();
}

}  // namespace

bool is_disjoint(graph::ConvTransposeOp op) {
  const auto all = [](llvm::ArrayRef<int64_t> values, int64_t wanted) {
    return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
  };
  const llvm::ArrayRef<DimExpr> kernel = type_of(op.getW()).getShape().drop_front(2);
  return op.getGroup() == 1 && all(op.getPads(), 0) && all(op.getDilations(), 1) &&
         all(op.getOutputPads(), 0) &&
         llvm::equal(kernel, op.getStrides(),
                     [](DimExpr size, int64_t stride) { return size.is_constant(stride); });
}

void expand_transposed(mlir::func::FuncOp function, const Machine& machine, int64_t most) {
  llvm::SmallVector<graph::ConvTransposeOp> found;
  function.walk([&](graph::ConvTransposeOp op) {
    if (is_expanded(op) && may_grow(op, machine) && block_elements(op) <= most) found.push_back(op);
  });
  for (graph::ConvTransposeOp op : found) expand(op);
}

void expand_phases(mlir::func::FuncOp function, const Machine& machine, bool only_groups) {
  llvm::SmallVector<graph::ConvTransposeOp> found;
  function.walk([&](graph::ConvTransposeOp op) {
    if (has_phases(op) && may_grow(op, machine) && (!only_groups || op.getGroup() != 1))
      found.push_back(op);
  });
  for (graph::ConvTransposeOp op : found) expand_phases(op);
}

}  // namespace scopevm::compiler::layouts
