// States that grow: an input of main that is a cache, and the output that is the cache with further
// rows, become one buffer, to which the function appends the rows.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/dims/dim_expr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "scopevm/status.h"

namespace scopevm::compiler::graph {

// Attributes of an argument of main. kStateAttribute is the number of the output that is the value
// of the input in the next call. If the argument has kInPlaceAttribute, the output can have the
// memory of the input: the function then changes only elements that are not part of the value.
inline constexpr char kStateAttribute[] = "sv.state";
inline constexpr char kInPlaceAttribute[] = "sv.in_place";

struct ArgumentInPlace {
  mlir::BlockArgument argument;
  unsigned output = 0;
};
// The arguments of a function with kInPlaceAttribute.
std::vector<ArgumentInPlace> arguments_in_place(mlir::func::FuncOp function);

// The dimension of a buffer whose value has the dimension `dim`.
std::string capacity_name(const std::string& dim);

// Ties each input to its output. The output must be the concatenation of the input and further
// elements along an axis of the input with a named dimension, say p. Afterwards,
// - the axis of the input and of the output has the dim capacity_of("p_capacity"): both are
//   buffers, whose first elements along the axis are the value;
// - the input p_rows, u8[p, 0], has the size of the value, and the output p_rows_next its size in
//   the next call. They have no elements.
// Returns the name of the dimension of each pair. `names` has these for a variant of main, in which
// such a dimension can be a number; it is empty for main. Errors: kInvalidArgument (an unknown
// name, a pair that is not of this form, a name p_capacity, p_rows or p_rows_next that the model
// has).
Result<std::vector<std::string>> tie_states(
    mlir::func::FuncOp main, std::span<const std::pair<std::string, std::string>> pairs,
    std::span<const std::string> names,
    llvm::function_ref<DimExpr(const std::string& name)> capacity_of);

}  // namespace scopevm::compiler::graph
