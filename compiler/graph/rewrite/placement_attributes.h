// Attributes that constrain an op's memory scopes or device, and the test whether two ops of a
// placed graph can be combined.
#pragma once

#include "mlir/IR/Operation.h"

namespace scopevm::compiler::graph {

// Memory scopes that a kernel requires for its operands or results; "" requires none.
inline constexpr char kOperandScopes[] = "sv.operand_scopes";
inline constexpr char kResultScopes[] = "sv.result_scopes";

// The name of the device that runs the op, if the types of its results and operands do not imply
// it.
inline constexpr char kDeviceAttribute[] = "sv.device";

// On a parameter or result of a function: the place that its declared type requires.
inline constexpr char kPlaceAttribute[] = "sv.place";

// On an op: its result must be a temporary of a kernel. The value is the constraint that requires
// this, for messages.
inline constexpr char kLocalAttribute[] = "sv.local";

// On an sv.on_device that the compiler has inserted: the option that requires it, for messages.
inline constexpr char kConstraintSource[] = "sv.constraint_source";

// True if the op has one of the attributes above, except kPlaceAttribute, kLocalAttribute and
// kConstraintSource.
bool has_placement_attributes(mlir::Operation* op);

// True if the graph constrains the place of the op: by such an attribute, by an annotation or copy
// of a result, or by an annotation of an operand that constrains its readers. A rewrite must keep
// such an op, because the constraint would be lost or would apply to another op.
bool is_constrained(mlir::Operation* op);

// True for a tensor type whose place has a memory scope: `@gpu.global.fast`.
bool has_scope(mlir::Type type);

// True if the placement permits one kernel to replace both ops: they have the same place, and
// neither op has placement attributes.
bool have_same_placement(mlir::Operation* a, mlir::Operation* b);

// True if another op can replace both ops: have_same_placement(), and the graph constrains neither.
bool can_combine(mlir::Operation* a, mlir::Operation* b);

}  // namespace scopevm::compiler::graph
