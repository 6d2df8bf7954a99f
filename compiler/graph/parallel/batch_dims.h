// Batch dims: dimensions of a model's inputs along which requests can be joined. A dimension is a
// batch dim if each row of every output depends only on the same row of the inputs, in the same way
// for all rows and all sizes of the dimension. Parallel axes of ops prove it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::graph {

// A dictionary attribute of public functions: for each dimension of the inputs, what prevents it
// from being a batch dim. The text is empty for a batch dim.
inline constexpr char kBatchDimsAttribute[] = "sv.batch_dims";

// Sets the attribute. The dimensions of other functions are not examined.
void find_batch_dims(mlir::ModuleOp module);

// The entry of a dimension in the attribute of a function, if there is one.
std::optional<std::string> batch_obstacle(mlir::func::FuncOp function, std::string_view dimension);

}  // namespace scopevm::compiler::graph
