// Registers the models of all families.
#include "compiler/layouts/models/models.h"

#include "compiler/layouts/image_op.cpp.inc"

namespace scopevm::compiler::layouts {

void register_models(mlir::DialectRegistry& registry) {
  registry.addExtension(+[](mlir::MLIRContext* context, graph::GraphDialect*) {
    for (auto* attach : {attach_contraction, attach_convolution, attach_elementwise, attach_layout,
                         attach_pooling, attach_reduction, attach_signal})
      attach(*context);
  });
}

}  // namespace scopevm::compiler::layouts
