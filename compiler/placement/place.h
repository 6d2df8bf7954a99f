// The placement stage: gives every value of a graph its place.
#pragma once

#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "scopevm/status.h"

namespace scopevm::placement {

// Devices that a place may name; the first is the default one.
struct Machine {
  std::vector<std::string> devices = {"cpu"};
};

// Writes a place into every tensor type of `module`: what it has, else the default device.
// Errors: kInvalidModel, with the location, when a type names a device that the machine lacks, or
// an op's operands and results are on different devices (no copy is inserted yet).
Status place(mlir::ModuleOp module, const Machine& machine);

}  // namespace scopevm::placement
