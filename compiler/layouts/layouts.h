// Chooses the layout of images: by channel, [n, c, h, w], or blocked, [n, ceil(c / 16), h, w, 16].
// Convolutions of blocked images are faster, and a conversion costs about as much as a small
// convolution. The choice therefore considers each function as a whole.
//
//   candidate.cpp  the ops that have both forms, and the time of each form and of a conversion
//   choose.cpp     a layout for each op: one minimum cut
//   apply.cpp      rewrites the ops of blocked images, and inserts conversions
//   blocked.cpp    the blocked forms of types, constants and values
//   sink_transposes.cpp, channels_last.cpp  move transposes between images of both orders
//   expand.cpp     rewrites transposed convolutions that stay by channel
#pragma once

#include <string>
#include <vector>

#include "compiler/machine/machine.h"
#include "compiler/shapes/dim_expr.h"
#include "mlir/IR/BuiltinOps.h"
#include "scopevm/compiler.h"

namespace scopevm::compiler::layouts {

// What the pass has chosen, for explanations.
struct Report {
  struct Op {
    std::string name;  // in the model
    std::string kind;  // "conv"
    bool is_blocked = false;
    double seconds = 0, other_seconds = 0;  // estimated, in the chosen and in the other layout
  };
  struct Conversion {
    std::string value;  // name in the model
    bool to_blocked = false;
    DimExpr bytes;  // of the image by channel
    double seconds = 0;
  };
  std::vector<Op> ops;  // those that have a choice
  std::vector<Conversion> conversions;
};

// Rewrites the ops of `module` whose images are blocked. Padding channels of blocked images can be
// any number. Only images in the default scope of a CPU are blocked, and only if its default pools
// have no limit: blocked images and their constants can be larger. Transposed
// convolutions by channel become products where possible. `fast_conv` permits Winograd's algorithm.
// REQUIRES: the module is placed.
// Always succeeds.
Report choose_layouts(mlir::ModuleOp module, const Machine& machine,
                      ImageLayout layout = ImageLayout::kAuto, bool fast_conv = false);

}  // namespace scopevm::compiler::layouts
