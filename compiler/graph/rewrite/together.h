// Attributes that speak of an op's memory or device, and which ops of a placed graph may become
// one.
#pragma once

#include "mlir/IR/Operation.h"

namespace scopevm::compiler::graph {

// Kernels ask for scopes of their operands or results by these, with "" where they do not care.
inline constexpr char kOperandScopes[] = "sv.operand_scopes";
inline constexpr char kResultScopes[] = "sv.result_scopes";

// On an op whose results do not lie in memory of the device that runs it: the device's name.
inline constexpr char kDeviceAttribute[] = "sv.device";

// On a parameter or result of a function: the place that the text requires.
inline constexpr char kPlaceAttribute[] = "sv.place";

// True when it has one of the first three.
bool asks(mlir::Operation* op);

// True when an op made of both has the device and the memory of each: one kernel has one place, and
// what asks for memory of its own is a kernel of its own.
bool are_together(mlir::Operation* a, mlir::Operation* b);

}  // namespace scopevm::compiler::graph
