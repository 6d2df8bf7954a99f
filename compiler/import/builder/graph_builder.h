// Builds the ops of an imported graph.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/graph/graph_ops.h"
#include "compiler/graph/values/symbolic_values.h"
#include "compiler/import/builder/random_keys.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace scopevm::compiler::frontend {

// An MLIR builder whose location is the node that is imported, with an analysis of the values that
// are known at compile time. While it exists, it collects the errors that MLIR reports.
class GraphBuilder : public mlir::ImplicitLocOpBuilder {
 public:
  explicit GraphBuilder(mlir::MLIRContext& context);

  // A new runtime-defined symbol: the name of the node, and `what` or `what` and a number.
  std::string fresh_symbol(llvm::StringRef what);

  // Creates an op whose result types are inferred. Null if the op would be invalid; take_errors()
  // returns the reason.
  mlir::Operation* emit(llvm::StringRef op, llvm::ArrayRef<mlir::Value> operands,
                        llvm::ArrayRef<mlir::NamedAttribute> attributes);
  // Reads the `count` elements of a value as symbols, at the end of a block. An earlier read is
  // reused, so that all uses of the value have the same symbols. In a loop, a signed read, which
  // cannot fail, of a value from outside is placed after that value: the symbols are then the same
  // in all iterations.
  graph::ReadDimsOp read_dims(mlir::Value value, int64_t count, bool is_signed);
  // Whether an earlier read_dims(value, ..., is_signed) would be reused.
  bool has_read(mlir::Value value, bool is_signed) const;
  // Whether the insertion point is in a loop, and the value is from outside of the innermost
  // region.
  bool is_outside(mlir::Value value) const {
    return loop_depth_ > 0 && value.getParentBlock() != getInsertionBlock();
  }

  // The elements of `value` as dim expressions. Null if they are not known at compile time. The
  // pointer is valid until the next call.
  const std::vector<DimExpr>* known(mlir::Value value) { return known_.find(value); }
  // A constant or an sv.dims_tensor in place of a value whose elements are known; otherwise the
  // value.
  mlir::Value materialised(mlir::Value value);
  // Discards the known values. Must be called after ops were erased, because a new op can have the
  // address of an erased op.
  void forget_known() { known_ = graph::SymbolicValues(); }

  // The number of loops whose bodies contain the insertion point.
  int& loop_depth() { return loop_depth_; }

  RandomKeys& random_keys() { return random_keys_; }

  // The errors that MLIR has reported since the last call.
  std::string take_errors();

 private:
  std::map<std::string, int> symbol_counts_;
  int loop_depth_ = 0;
  RandomKeys random_keys_;
  graph::SymbolicValues known_;
  std::vector<std::string> errors_;
  mlir::ScopedDiagnosticHandler handler_;
};

}  // namespace scopevm::compiler::frontend
