// Where a dim of a graph value comes from, for the messages of checks, in the model's own names:
// the input dims that it is computed from, and the ops on the way that changed it.
#pragma once

#include <string>
#include <vector>

#include "compiler/shapes/dim_expr.h"
#include "mlir/IR/Value.h"

namespace scopevm::compiler::graph {

// A symbol that an op makes, and what to call its origin.
struct SymbolBirth {
  std::string symbol;
  std::string where;  // `"sizes" element 2`, `loop "scan_1"`
};
std::vector<SymbolBirth> births_of(mlir::Operation* op);

class DimTrace {
 public:
  // Dims whose values the texts show are appended to `shown`; "{2}" stands for the first of them.
  explicit DimTrace(std::vector<DimExpr>& shown) : shown_(shown) {}

  // `input "y"`, `"pool_1"`.
  static std::string name(mlir::Value value);

  // Tells what `e`, a dim of `value` or computed from its dims, is made of:
  // `floordiv(h, 2) with h = {2} from input "x" dim 2`. Empty for a constant, and where `value` is
  // the input that names the dim.
  std::string origin(DimExpr e, mlir::Value value);

  // The ops that changed the dim on its way from an input to `value`: `, through "conv_1",
  // "pad_2"`.
  static std::string way(DimExpr e, mlir::Value value);

 private:
  std::string birth_of(const std::string& symbol, mlir::Value value);

  std::vector<DimExpr>& shown_;
};

}  // namespace scopevm::compiler::graph
