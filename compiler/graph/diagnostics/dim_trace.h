// The provenance of a dim, for check messages: the input dims from which it is computed, and the
// ops that changed it. Messages use the names of the model.
#pragma once

#include <string>
#include <vector>

#include "compiler/dims/dim_expr.h"
#include "mlir/IR/Value.h"

namespace scopevm::compiler::graph {

// A symbol that an op defines, and a description of its origin.
struct SymbolDefinition {
  std::string symbol;
  std::string where;  // `"sizes" element 2`, `loop "scan_1"`
};
std::vector<SymbolDefinition> symbols_defined_by(mlir::Operation* op);

class DimTrace {
 public:
  // A message refers to the two sides of its check as "{0}" and "{1}". Further dims whose values it
  // shows are appended to `shown`; "{2}" refers to shown[0].
  explicit DimTrace(std::vector<DimExpr>& shown) : shown_(shown) {}

  // The value's name for messages: `input "y"`, `"pool_1"`, or "an operand" for an argument of
  // another region.
  static std::string name(mlir::Value value);
  // The same for an op. It can be in a group.
  static std::string name(mlir::Operation* op);

  // Describes how `e`, a dim of `value` or an expression over its dims, is computed. For example,
  // `floordiv(h, 2) with h = {2} from input "x" dim 2`. Empty for a constant, and for a symbol that
  // is a dim of the input `value`.
  std::string origin(DimExpr e, mlir::Value value);

  // The ops that changed the dim between an input and `value`, without the op that defines `value`:
  // `, through "conv_1", "pad_2"`. Empty if there are none.
  static std::string way(DimExpr e, mlir::Value value);

 private:
  std::string definition_of(const std::string& symbol, mlir::Value value);

  std::vector<DimExpr>& shown_;
};

}  // namespace scopevm::compiler::graph
