// Conditions on dims that type rules leave to the request: where two symbolic dims must be equal,
// or must broadcast. An op adds its own in `addRequestChecks`, in the folder of its family.
#pragma once

#include <string>
#include <vector>

#include "compiler/graph/graph_ops.h"
#include "compiler/program.h"

namespace scopevm::compiler::graph {

// Appends the checks of one graph op (also one inside a group), made when `segment` begins.
// Those that always hold are left out.
void collect_checks(mlir::Operation* op, SegmentIndex segment, std::vector<Check>& checks);

// One side of a condition.
struct CheckedDim {
  DimExpr dim;
  mlir::Value value;  // that it is a dim of, or computed from; null for a number
  std::string what;   // its name in messages: `input "x" dim 1`
};
CheckedDim dim_of(mlir::Value value, int64_t axis);

// The checks of one op under construction. In a message, {0} stands for the value of the first side
// and {1} for that of the second; where they come from is appended.
class RequestChecks {
 public:
  RequestChecks(mlir::Operation* op, SegmentIndex segment, std::vector<Check>& checks)
      : op_(op), segment_(segment), checks_(checks) {}

  void require_equal(const CheckedDim& a, const CheckedDim& b);
  void require_broadcastable(const CheckedDim& a, const CheckedDim& b);
  void require_at_least(const CheckedDim& a, const CheckedDim& b, const std::string& message);
  void require_at_most(const CheckedDim& a, const CheckedDim& b);
  void require_multiple_of(const CheckedDim& a, int64_t factor, const std::string& message);
  // Pairwise broadcast of the operands' shapes, aligned at the last dim.
  void require_broadcast(mlir::ValueRange operands, int64_t skip_last = 0);
  // No dim of a result is below 0, as windows, borders and repetitions could make it.
  void require_results();
  // A condition whose message is complete.
  void add(Check::Kind kind, const CheckedDim& a, const CheckedDim& b, const std::string& message);

 private:
  mlir::Operation* op_;
  SegmentIndex segment_;
  std::vector<Check>& checks_;
};

}  // namespace scopevm::compiler::graph
