// Estimates of the work of ops. A unit of work takes 0.1 to 3 ns.
#pragma once

#include <cstdint>
#include <optional>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace scopevm::compiler::codegen {

// The calls of each private function of a module.
using Calls =
    llvm::DenseMap<mlir::Operation*, llvm::SmallVector<mlir::func::CallOp>>;  // by the callee

// The estimated work of an op without regions, except for a call of a function with a body.
int64_t work_of(mlir::Operation* op);

// An upper bound of the number of iterations of the loop, if one is known at compile time.
std::optional<int64_t> most_iterations(mlir::scf::ForOp loop, const Calls& calls);

}  // namespace scopevm::compiler::codegen
