// Pools: the channels of a block are a third spatial axis, with a window of 1.
#include "compiler/layouts/models/image.h"
#include "compiler/layouts/models/models.h"

namespace scopevm::compiler::layouts {
namespace {

struct PoolModel : ImageModel<PoolModel> {
  std::optional<BlockedForm> getBlockedForm(mlir::Operation* op, const Options&) const {
    return image_form(op);
  }

  mlir::Value createBlocked(mlir::Operation* op, mlir::OpBuilder& builder, const BlockedForm&,
                            mlir::IRMapping& operands) const {
    mlir::Operation* copy = clone_blocked(builder, op, operands);
    for (const char* name : {"kernel", "strides", "dilations"})
      copy->setAttr(name, appended(copy->getAttrOfType<mlir::DenseI64ArrayAttr>(name), 1));
    const llvm::ArrayRef<int64_t> pads = mlir::cast<graph::WindowOp>(op).getPads();
    copy->setAttr("pads", builder.getDenseI64ArrayAttr({pads[0], pads[1], 0, pads[2], pads[3], 0}));
    return copy->getResult(0);
  }
};

}  // namespace

void attach_pooling(mlir::MLIRContext& context) {
  attach<PoolModel, graph::MaxPoolOp, graph::AveragePoolOp>(context);
}

}  // namespace scopevm::compiler::layouts
