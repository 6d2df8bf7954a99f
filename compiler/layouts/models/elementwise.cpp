// Elementwise ops: operands are images, constants by channel, or the same for all channels.
#include "compiler/graph/convolution/window.h"
#include "compiler/layouts/models/constants.h"
#include "compiler/layouts/models/image.h"
#include "compiler/layouts/models/layout_ops.h"
#include "compiler/layouts/models/models.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::kChannelBlock;
using graph::TensorType;
using graph::type_of;

// How an operand is used in blocked form.
enum class Operand : uint8_t {
  kImage,     // an image with the same channels: it is blocked
  kConstant,  // a constant with one element per channel: its elements are blocked
  kSame,      // the same for all channels
  kOther,     // cannot be used
};

// `image` is the op's result type.
Operand operand_kind(mlir::Value operand, TensorType image) {
  const TensorType type = type_of(operand);
  if (type.getRank() > 4 || !is_elementwise(type)) return Operand::kOther;
  const llvm::SmallVector<DimExpr> dims = padded_dims(type);
  if (dims[1].is_constant(1)) return Operand::kSame;
  if (dims[1] != image.getDim(1)) return Operand::kOther;
  if (is_constant(operand) && type.isStatic())
    return type.getDtype() == DType::kBool ? Operand::kOther : Operand::kConstant;
  return type.getRank() == 4 ? Operand::kImage : Operand::kOther;
}

// Padded with zeros.
mlir::Value blocked_constant(mlir::OpBuilder& builder, mlir::Value constant) {
  llvm::SmallVector<int64_t> dims(4 - type_of(constant).getRank(), 1);
  llvm::append_range(dims, constant_dims(constant));
  const int64_t blocks = (dims[1] + kChannelBlock - 1) / kChannelBlock;
  return blocked_elements(builder, constant, {dims[0], blocks, dims[2], dims[3], kChannelBlock},
                          dims[0], dims[1], dims[2] * dims[3]);
}

mlir::Value same_for_channels(mlir::OpBuilder& builder, mlir::Value value) {
  const TensorType type = type_of(value);
  if (llvm::all_of(type.getShape(), [](DimExpr dim) { return dim.is_constant(1); })) return value;
  llvm::SmallVector<DimExpr> dims(type.getShape());
  dims.push_back(1);
  return reshape(builder, value, dims);
}

struct ElementwiseModel : ImageModel<ElementwiseModel> {
  std::optional<BlockedForm> getBlockedForm(mlir::Operation* op, const Options&) const {
    const TensorType image = type_of(op->getResult(0));
    // One channel cannot be distinguished from an operand that is the same for all channels.
    if (elementwise_channels(image).value_or(1) == 1) return std::nullopt;
    BlockedForm form;
    for (mlir::Value operand : op->getOperands()) {
      const Operand kind = operand_kind(operand, image);
      if (kind == Operand::kOther) return std::nullopt;
      if (kind == Operand::kImage) form.images.push_back(operand);
    }
    if (form.images.empty()) return std::nullopt;
    return form;
  }

  mlir::Value createBlocked(mlir::Operation* op, mlir::OpBuilder& builder, const BlockedForm&,
                            mlir::IRMapping& operands) const {
    for (mlir::Value operand : op->getOperands())
      if (!operands.contains(operand)) {
        const bool is_constant =
            operand_kind(operand, type_of(op->getResult(0))) == Operand::kConstant;
        operands.map(operand, is_constant ? blocked_constant(builder, operand)
                                          : same_for_channels(builder, operand));
      }
    return clone_blocked(builder, op, operands)->getResult(0);
  }

  bool canMoveChannels(mlir::Operation* op) const {
    return type_of(op->getResult(0)).getRank() == 4;
  }
};

}  // namespace

void attach_elementwise(mlir::MLIRContext& context) {
  attach_to_all<ElementwiseModel, graph::ElementwiseOp>(context);
}

}  // namespace scopevm::compiler::layouts
