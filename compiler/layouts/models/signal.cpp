// Resizing of the spatial axes, or of channels-last images.
#include "compiler/layouts/models/image.h"
#include "compiler/layouts/models/layout_ops.h"
#include "compiler/layouts/models/models.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::TensorType;
using graph::type_of;

struct ResizeModel : ImageModel<ResizeModel> {
  std::optional<BlockedForm> getBlockedForm(mlir::Operation* op, const Options&) const {
    auto resize = mlir::cast<graph::ResizeOp>(op);
    const TensorType x = type_of(resize.getX());
    if (!image_channels(x) || x.getDim(1) != type_of(resize.getResult()).getDim(1) ||
        (!resize.getScales().empty() && resize.getScales()[1] != 1))
      return std::nullopt;
    return image_form(op);
  }

  mlir::Value createBlocked(mlir::Operation* op, mlir::OpBuilder& builder, const BlockedForm&,
                            mlir::IRMapping& operands) const {
    auto copy = mlir::cast<graph::ResizeOp>(clone_blocked(builder, op, operands));
    copy.setDimsAttr(graph::DimsAttr::get(op->getContext(), type_of(copy.getResult()).getShape()));
    if (!copy.getScales().empty()) {
      llvm::SmallVector<float> scales(copy.getScales());
      scales.push_back(1);
      copy.setScales(scales);
    }
    return copy.getResult();
  }

  bool canMoveChannels(mlir::Operation*) const { return true; }
  void moveChannels(mlir::Operation* op) const {
    auto resize = mlir::cast<graph::ResizeOp>(op);
    resize.setDimsAttr(by_channel(resize.getDims()));
    if (!resize.getScales().empty()) resize.setScales(by_channel(resize.getScales()));
  }
  bool definesImages(mlir::Operation*) const { return true; }
};

}  // namespace

void attach_signal(mlir::MLIRContext& context) { attach<ResizeModel, graph::ResizeOp>(context); }

}  // namespace scopevm::compiler::layouts
