// ImageOp: the interface of ops that can be computed in several layouts of images. The passes of
// this folder know ops only by it. models/ implements it for the families of ops.
#pragma once

#include <optional>
#include <string>

#include "compiler/dims/representative.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/schedule/conv_cost.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/IRMapping.h"

namespace scopevm::compiler::layouts {

struct Options;  // layouts.h

// How an op is computed on blocked images.
struct BlockedForm {
  llvm::SmallVector<mlir::Value, 2> images;  // operands that become blocked with the op
  bool reads_plain = false;                  // also reads them by channel: they are not converted
  bool has_blocked_result = true;            // otherwise the result stays as it is
  // The alternatives of a convolution, with distinct schedules. Without measurements, the first one
  // is used.
  llvm::SmallVector<schedule::ConvForm, 1> schedules = {schedule::ConvForm()};
  size_t schedule = 0;  // index of the used one
};

// The defaults of the interface. The times are those of the first image.
schedule::LayoutTimes image_op_times(const BlockedForm& form, const schedule::Core& core,
                                     const DimValues& known);
mlir::Operation* clone_blocked(mlir::OpBuilder& builder, mlir::Operation* op,
                               mlir::IRMapping& operands);

// Attaches the models to the ops when the dialect is loaded.
void register_models(mlir::DialectRegistry& registry);

}  // namespace scopevm::compiler::layouts

#include "compiler/layouts/image_op.h.inc"
