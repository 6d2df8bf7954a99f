// Rewrites of one op and what it reads into something cheaper that gives the same.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::graph {

// A value equal to op's only result that costs less, built where `builder` stands; null when there
// is none. May return an operand. In a placed graph it lies where the result lay, and ops of
// several places stay apart.
mlir::Value rewrite(mlir::Operation* op, mlir::OpBuilder& builder);

// The part of it that recognises normalisations: normalisation.cpp.
mlir::Value rewrite_normalisation(mlir::Operation* op, mlir::OpBuilder& builder);

}  // namespace scopevm::compiler::graph
