// Transposes between image ops by channel and ops on channels-last images.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler::layouts {

// Moves transposes of images from [n, c, h, w] to [n, h, w, c] below their users, and removes those
// that meet inverse transposes. The transposes of the function then move no more bytes than before.
// Only images that image ops compute are considered.
void sink_transposes(mlir::func::FuncOp function);

}  // namespace scopevm::compiler::layouts
