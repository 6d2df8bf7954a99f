#include "compiler/layouts/blocked/flatten.h"

#include "compiler/graph/convolution/window.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/layouts/blocked/blocked.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::TensorType;
using graph::type_of;

// The elements of the largest weights that are permuted: compilation takes little more time and
// memory. For larger ones, a conversion of the image takes little of the time of a call.
constexpr int64_t kMostWeights = 1 << 24;

bool is_fixed(mlir::Operation* op) {
  return graph::has_placement_attributes(op) || op->hasAttr(graph::kLocalAttribute) ||
         graph::has_scope(op->getResult(0).getType());
}

bool is_product(mlir::Operation* op, mlir::Value flat) {
  auto product = mlir::dyn_cast<graph::MatMulOp>(op);
  if (!product || product.getA() != flat || product.getB() == flat || product.getTransposeA() ||
      is_fixed(op))
    return false;
  const TensorType weights = type_of(product.getB());
  return product.getB().getDefiningOp<graph::ConstantOp>() && !graph::has_scope(weights) &&
         weights.getRank() == 2 && weights.isStatic() &&
         *weights.getElementCount().as_constant() <= kMostWeights;
}

}  // namespace

bool is_flattening(mlir::Operation* op) {
  auto flatten = mlir::dyn_cast<graph::ReshapeOp>(op);
  if (!flatten || is_fixed(op)) return false;
  const std::optional<int64_t> channels = image_channels(flatten.getX().getType());
  if (!channels || *channels % graph::kChannelBlock != 0) return false;
  const TensorType image = type_of(flatten.getX()), flat = type_of(flatten.getResult());
  const auto pixels = (image.getDim(2) * image.getDim(3)).as_constant();
  const mlir::Value result = flatten.getResult();
  return pixels && *pixels > 1 && flat.getRank() == 2 && flat.getDim(0) == image.getDim(0) &&
         flat.getDim(1).is_constant(*channels * *pixels) && !result.use_empty() &&
         llvm::all_of(result.getUsers(), [&](auto* user) { return is_product(user, result); });
}

void flatten_blocked(mlir::OpBuilder& builder, mlir::Operation* op, mlir::Value blocked) {
  auto flatten = mlir::cast<graph::ReshapeOp>(op);
  const int64_t channels = *image_channels(flatten.getX().getType());
  for (mlir::Operation* user : flatten.getResult().getUsers()) {
    auto product = mlir::cast<graph::MatMulOp>(user);
    auto weights = product.getB().getDefiningOp<graph::ConstantOp>();
    builder.setInsertionPoint(product);
    product.getBMutable().assign(
        blocked_rows(builder, weights, channels, product.getTransposeB() ? 1 : 0));
  }
  flatten.getXMutable().assign(blocked);
}

}  // namespace scopevm::compiler::layouts
