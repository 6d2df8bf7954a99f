// The forms of a convolution as modules, for measurements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/external/extern.h"
#include "compiler/layouts/layouts.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace scopevm::compiler::layouts {

// The form of a convolution by channel, then BlockedForm::schedules. Each is the function `main` of
// a module, whose inputs are named "x0". Images are not converted.
struct Forms {
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  // Equal for convolutions that differ only in the elements of constants and the values of dims,
  // and whose forms have the same schedules.
  std::string key;
  graph::DimBindings dims;  // of `main`, in the dims of the convolution's function
  std::string id;           // the key and the dims
};

// Forms::id of a convolution. Empty for any other op.
std::optional<std::string> id_of(const Candidate& candidate, const schedule::Core& core);

// The forms of the distinct convolutions in `main`.
std::vector<Forms> forms_of(mlir::ModuleOp module, const Machine& machine, const Options& options);

}  // namespace scopevm::compiler::layouts
