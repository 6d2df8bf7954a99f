// The annotations by which a split requires places.
#pragma once

#include <string>

#include "compiler/machine/machine.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::split {

// The device that runs the ops of a rank: its first CPU.
const Device& device_of_rank(const Machine& machine, int rank);

// Inserts an sv.on_device by which `value` is made on `device`, and returns its result.
mlir::Value constrain(mlir::OpBuilder& builder, mlir::Value value, const std::string& device);

}  // namespace scopevm::compiler::split
