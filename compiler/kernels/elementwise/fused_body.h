// What an elementwise kernel or a reduction computes: one graph op, or the ops of an sv.group, as
// one list.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/target/target.h"

namespace scopevm::compiler::kernels {

struct FusedBody {
  mlir::Operation* op = nullptr;            // the op or the group
  llvm::SmallVector<mlir::Operation*> ops;  // in order, without constants and yield
  llvm::SmallVector<mlir::Value> results;   // what is computed, one per result of `op`

  // The value outside of a group that a block argument stands for; any other value is itself.
  mlir::Value outer(mlir::Value value) const;
  // True when an op of the body computes the value.
  bool computes(mlir::Value value) const;
};

FusedBody fused_body(mlir::Operation* op);

graph::TensorType tensor_type(mlir::Value value);

// Vector length for a body: a full register of its widest type, at most 4 bytes wide.
int lane_count(const FusedBody& body, const Target& target);

// Simple operations per element, for grains.
int64_t cost_of(const FusedBody& body);

}  // namespace scopevm::compiler::kernels
