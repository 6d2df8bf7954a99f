// Models of ImageOp by family of ops. Each is attached in the file of its family, the only one that
// names the op.
#pragma once

#include "compiler/layouts/image_op.h"
#include "mlir/IR/MLIRContext.h"

namespace scopevm::compiler::layouts {

// The base of a model, for any op. Its functions are those of the interface, with the op as first
// parameter.
template <typename Model>
using ImageModel = ImageOp::ExternalModel<Model, ImageOp>;

// Attaches a model to these ops.
template <typename Model, typename... Ops>
void attach(mlir::MLIRContext& context) {
  (mlir::RegisteredOperationName::lookup(mlir::TypeID::get<Ops>(), &context)
       ->template attachInterface<Model>(),
   ...);
}

// Attaches a model to all ops of the graph dialect with the interface `Interface`.
template <typename Model, typename Interface>
void attach_to_all(mlir::MLIRContext& context) {
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    if (name.hasInterface<Interface>()) name.attachInterface<Model>();
}

// Attach the models of a family.
void attach_contraction(mlir::MLIRContext& context);
void attach_convolution(mlir::MLIRContext& context);
void attach_elementwise(mlir::MLIRContext& context);
void attach_layout(mlir::MLIRContext& context);
void attach_pooling(mlir::MLIRContext& context);
void attach_reduction(mlir::MLIRContext& context);
void attach_signal(mlir::MLIRContext& context);

}  // namespace scopevm::compiler::layouts
