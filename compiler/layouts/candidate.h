// The ops that can run on blocked images.
#pragma once

#include <optional>

#include "compiler/layouts/image_op.h"
#include "compiler/machine/machine.h"

namespace scopevm::compiler::layouts {

// An op that can run on blocked images.
struct Candidate {
  ImageOp op;
  BlockedForm form;

  // Elementwise ops after it are computed with it. Its forms can be measured.
  bool is_convolution() const { return mlir::isa<graph::ContractionOp>(*op); }
};
// Empty for an op with a value in a memory scope, on an accelerator, or if !may_grow().
std::optional<Candidate> candidate(mlir::Operation* op, const Machine& machine,
                                   const Options& options);

// Whether buffers and constants of the op can become larger: the default pools of its device have
// no limit.
bool may_grow(mlir::Operation* op, const Machine& machine);

}  // namespace scopevm::compiler::layouts
