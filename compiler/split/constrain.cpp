// See constrain.h.
#include "compiler/split/constrain.h"

#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/placement_attributes.h"

namespace scopevm::compiler::split {

const Device& device_of_rank(const Machine& machine, int rank) {
  return *std::ranges::find_if(machine.devices, [&](const Device& device) {
    return device.is_host() && device.rank == rank;
  });
}

mlir::Value constrain(mlir::OpBuilder& builder, mlir::Value value, const std::string& device) {
  auto annotation = builder.create<graph::OnDeviceOp>(value.getLoc(), value,
                                                      builder.getStringAttr(device), true, false);
  annotation->setAttr(graph::kConstraintSource, builder.getStringAttr("--split"));
  return annotation.getResult();
}

}  // namespace scopevm::compiler::split
