// Chooses the layout of images: by channel, [n, c, h, w], or blocked, [n, ceil(c / 16), h, w, 16].
// Convolutions of blocked images are faster, and a conversion costs about as much as a small
// convolution. The choice therefore considers each function as a whole.
//
//   image_op.td    the interface of ops that have several forms: all that is known about an op
//   models/        the interface for the families of ops, and types and conversions of images
//
//   sink_transposes.cpp  computes ops on channels-last images by channel, without transposes
//   candidate.cpp  the ops that can run on blocked images
//   choose.cpp     a layout for each op: one minimum cut
//   apply.cpp      rewrites the ops of blocked images, and inserts conversions
//   forms.cpp      the forms of a convolution as modules, for measurements
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/dims/dim_expr.h"
#include "compiler/layouts/candidate.h"
#include "compiler/machine/machine.h"
#include "compiler/schedule/core.h"
#include "mlir/IR/BuiltinOps.h"
#include "scopevm/compiler.h"

namespace scopevm::compiler::layouts {

// Measured times of a convolution.
struct Measured {
  double plain = 0;
  std::vector<double> blocked;  // of BlockedForm::schedules
  size_t form = 0;              // the chosen one of them
};

// The conditions of the choice.
struct Options {
  ImageLayout layout = ImageLayout::kAuto;
  bool fast_conv = false;                                  // permits Winograd's algorithm
  const schedule::Core* core = &schedule::default_core();  // of the host's first target; never null
  // Measured times of convolutions in `main`, by Forms::id. Times of other ops are estimated.
  std::map<std::string, Measured> measured;
  // The requests of the measurements, for which other times are estimated. Empty: one request with
  // representative dims.
  std::vector<DimValues> requests;
};

// The chosen layouts, for explanations.
struct Report {
  struct Op {
    std::string name;  // in the model
    std::string kind;  // "conv"
    bool is_blocked = false;
    double seconds = 0, other_seconds = 0;  // in the chosen and in the other layout
    bool is_measured = false;               // else estimated
    std::vector<MeasuredForm> forms;        // the measured blocked forms, if there are several
    std::string schedule;                   // schedule_text() if the images are blocked
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
// have no limit: blocked images and their constants can be larger. Transposed convolutions by
// channel become products or ordinary convolutions where possible. REQUIRES: the module is placed.
// Always succeeds.
Report choose_layouts(mlir::ModuleOp module, const Machine& machine, const Options& options = {});

}  // namespace scopevm::compiler::layouts
