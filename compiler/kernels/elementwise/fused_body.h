// FusedBody: the computation of an elementwise kernel or a reduction, as a list of ops. They are a
// single graph op, or the ops of an sv.group.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/graph/group.h"
#include "compiler/schedule/target.h"

namespace scopevm::compiler::kernels {

struct FusedBody {
  mlir::Operation* op = nullptr;            // the op or the group
  llvm::SmallVector<mlir::Operation*> ops;  // in order, without constants and yield
  llvm::SmallVector<mlir::Value> results;   // values of the body, one per result of `op`

  // The group operand of a block argument of the group; any other value is returned unchanged.
  mlir::Value outer(mlir::Value value) const { return graph::outer_value(value, op); }
  // True if an op of the body computes the value.
  bool computes(mlir::Value value) const;
};

// The body of a single op or of an sv.group.
FusedBody fused_body(mlir::Operation* op);

// The number of lanes of the vectors in which a body is computed: a vector of its widest type fills
// one register. A type of 8 bytes counts as 4 bytes, so its vectors fill two registers.
int lane_count(const FusedBody& body, const schedule::Target& target);

// An estimate of the number of simple operations per element, from which grains are computed.
int64_t cost_of(const FusedBody& body);

}  // namespace scopevm::compiler::kernels
