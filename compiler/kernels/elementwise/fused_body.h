// FusedBody: the computation of an elementwise kernel or a reduction, as a list of ops: one graph
// op, or the ops of an sv.group.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/target/target.h"

namespace scopevm::compiler::kernels {

struct FusedBody {
  mlir::Operation* op = nullptr;            // the op or the group
  llvm::SmallVector<mlir::Operation*> ops;  // in order, without constants and yield
  llvm::SmallVector<mlir::Value> results;   // the computed values, one per result of `op`

  // The value outside the group that a block argument stands for; any other value maps to itself.
  mlir::Value outer(mlir::Value value) const;
  // True if an op of the body computes the value.
  bool computes(mlir::Value value) const;
};

// The body of a single op or of an sv.group.
FusedBody fused_body(mlir::Operation* op);

graph::TensorType tensor_type(mlir::Value value);

// Lanes per vector for a body: a full register of its widest type, taken as at most 4 bytes wide.
int lane_count(const FusedBody& body, const Target& target);

// The number of simple operations per element, for the computation of grains.
int64_t cost_of(const FusedBody& body);

}  // namespace scopevm::compiler::kernels
