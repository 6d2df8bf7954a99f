#include "compiler/layouts/models/convolution/expand.h"

#include "compiler/graph/convolution/window.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/layouts/models/constants.h"
#include "compiler/layouts/models/layout_ops.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::TensorType;
using graph::type_of;

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

  // The phase whose elements a kernel element contributes to, and its place in their window.
  int64_t phase(int64_t element) const { return ((element - pad) % stride + stride) % stride; }
  int64_t position(int64_t element) const {
    const graph::PhaseTaps taps = graph::phase_taps(phase(element), stride, pad, kernel);
    return taps.shift - (element - taps.first) / stride + window.before;
  }
};

// The weights of the convolution: [m * phases, c / group, window...] for w, [c, m / group,
// kernel...].
mlir::Value phase_weights(mlir::OpBuilder& builder, graph::ConvTransposeOp op,
                          llvm::ArrayRef<PhaseAxis> axes) {
  const TensorType w = type_of(op.getW());
  const auto group = static_cast<int64_t>(op.getGroup());
  const int64_t channels = *w.getDim(0).as_constant() / group, rows = *w.getDim(1).as_constant();
  int64_t phases = 1, window = 1, kernel = 1;
  for (const PhaseAxis& axis : axes) {
    phases *= axis.stride;
    window *= axis.window.size;
    kernel *= axis.kernel;
  }
  llvm::SmallVector<int64_t> dims = {group * rows * phases, channels};
  for (const PhaseAxis& axis : axes) dims.push_back(axis.window.size);
  return rearranged(builder, op.getW(), dims, [&](const auto* from, auto* to) {
    for (int64_t element = 0; element < kernel; ++element) {
      int64_t phase = 0, position = 0, below = kernel;
      for (const PhaseAxis& axis : axes) {
        const int64_t along = element % below / (below / axis.kernel);
        below /= axis.kernel;
        phase = phase * axis.stride + axis.phase(along);
        position = position * axis.window.size + axis.position(along);
      }
      for (int64_t row = 0; row < group * rows; ++row)
        for (int64_t channel = 0; channel < channels; ++channel)
          to[((row * phases + phase) * channels + channel) * window + position] =
              from[((row / rows * channels + channel) * rows + row % rows) * kernel + element];
    }
  });
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

// Whether constants and placement permit a rewrite, which has a faster kernel and few products with
// zeros.
bool has_phases(graph::ConvTransposeOp op) {
  constexpr int64_t kMostStride = 16, kMostWeights = 1 << 24;
  const TensorType w = type_of(op.getW());
  if (!is_constant(op.getW()) || w.getDtype() != DType::kF32 ||
      w.getElementCount().is_constant(0) || type_of(op.getX()).getDim(1) != w.getDim(0) ||
      graph::has_placement_attributes(op) || op->hasAttr(graph::kLocalAttribute))
    return false;
  if (is_disjoint(op)) return true;
  const int64_t spatial = w.getRank() - 2;
  if (spatial > 2) return false;
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

void expand(graph::ConvTransposeOp op, bool may_be_blocked) {
  if (!has_phases(op)) return;
  // The elements that one element of each channel of x produces. A blocked result of few elements
  // would mostly be padding, and the product can read blocked images.
  const TensorType w = type_of(op.getW());
  const int64_t elements = *w.getElementCount().as_constant() / *w.getDim(0).as_constant();
  const bool is_small = is_disjoint(op) && elements <= graph::kChannelBlock;
  if (!may_be_blocked || op.getGroup() != 1 || is_small) expand_phases(op);
}

}  // namespace scopevm::compiler::layouts
