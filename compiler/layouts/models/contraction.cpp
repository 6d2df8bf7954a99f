// Products of flattened images and constant weights, which can read blocked images: the rows of
// their weights are permuted instead.
#include "compiler/graph/convolution/window.h"
#include "compiler/layouts/models/constants.h"
#include "compiler/layouts/models/image.h"
#include "compiler/layouts/models/models.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::kChannelBlock;
using graph::TensorType;
using graph::type_of;

// The elements of the largest weights that are permuted: compilation takes little more time and
// memory. For larger ones, a conversion of the image takes little of the time of a call.
constexpr int64_t kMostWeights = 1 << 24;

bool is_product(mlir::Operation* op, mlir::Value flat) {
  auto product = mlir::dyn_cast<graph::MatMulOp>(op);
  if (!product || product.getA() != flat || product.getB() == flat || product.getTransposeA() ||
      is_fixed(op))
    return false;
  const TensorType weights = type_of(product.getB());
  return is_constant(product.getB()) && weights.getRank() == 2 && weights.isStatic() &&
         *weights.getElementCount().as_constant() <= kMostWeights;
}

// The weights of a product of blocked images. Axis `axis` is the depth.
mlir::Value blocked_rows(mlir::OpBuilder& builder, mlir::Value weights, int64_t channels,
                         int64_t axis) {
  const llvm::SmallVector<int64_t> dims = constant_dims(weights);
  const int64_t pixels = dims[axis] / channels;
  if (axis == 1) return blocked_elements(builder, weights, dims, dims[0], channels, pixels);
  return rearranged(builder, weights, dims, [&](const auto* from, auto* to) {
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        const int64_t row =
            (c / kChannelBlock * pixels + pixel) * kChannelBlock + c % kChannelBlock;
        std::copy_n(from + (c * pixels + pixel) * dims[1], dims[1], to + row * dims[1]);
      }
  });
}

// The op that flattens the image. It reads blocked images, too, if they have no padding channels
// and such products are its only users.
struct FlattenModel : ImageModel<FlattenModel> {
  std::optional<BlockedForm> getBlockedForm(mlir::Operation* op, const Options&) const {
    auto flatten = mlir::cast<graph::ReshapeOp>(op);
    const std::optional<int64_t> channels = image_channels(flatten.getX().getType());
    if (!channels || *channels % kChannelBlock != 0 ||
        type_of(flatten.getX()).getDtype() != DType::kF32)
      return std::nullopt;
    const TensorType image = type_of(flatten.getX()), flat = type_of(flatten.getResult());
    const auto pixels = (image.getDim(2) * image.getDim(3)).as_constant();
    const mlir::Value result = flatten.getResult();
    if (!pixels || *pixels <= 1 || flat.getRank() != 2 || flat.getDim(0) != image.getDim(0) ||
        !flat.getDim(1).is_constant(*channels * *pixels) || result.use_empty() ||
        !llvm::all_of(result.getUsers(), [&](auto* user) { return is_product(user, result); }))
      return std::nullopt;
    return BlockedForm{{flatten.getX()}, /*reads_plain=*/true, /*has_blocked_result=*/false};
  }

  schedule::LayoutTimes getTimes(mlir::Operation*, const BlockedForm&, const schedule::Core&,
                                 const DimValues&) const {
    return {};
  }

  mlir::Value createBlocked(mlir::Operation* op, mlir::OpBuilder& builder, const BlockedForm&,
                            mlir::IRMapping& operands) const {
    auto copy = mlir::cast<graph::ReshapeOp>(builder.clone(*op, operands));
    const mlir::Value image = op->getOperand(0);
    if (copy.getX() == image) return copy.getResult();
    for (mlir::Operation* user : op->getUsers()) {
      auto product = mlir::cast<graph::MatMulOp>(user);
      builder.setInsertionPoint(product);
      product.getBMutable().assign(blocked_rows(builder, product.getB(),
                                                *image_channels(image.getType()),
                                                product.getTransposeB() ? 1 : 0));
    }
    return copy.getResult();
  }
};

}  // namespace

void attach_contraction(mlir::MLIRContext& context) {
  attach<FlattenModel, graph::ReshapeOp>(context);
}

}  // namespace scopevm::compiler::layouts
