// Checks of each request for conditions on dims that type rules cannot prove, for example that two
// symbolic dims are equal. `addRequestChecks`, in the folder of an op's family, adds its checks.
#pragma once

#include <string>
#include <vector>

#include "compiler/graph/graph_ops.h"
#include "compiler/program/program.h"

namespace scopevm::compiler::graph {

// Appends the checks of one graph op to `checks`. A call makes them when `segment` begins. Checks
// that always hold are omitted. A group itself has no checks; its ops are passed one by one.
void collect_checks(mlir::Operation* op, SegmentIndex segment, std::vector<Check>& checks);

// One side of a condition.
struct CheckedDim {
  DimExpr dim;
  mlir::Value value;  // the value from whose dims `dim` is computed; null if none is known
  std::string what;   // the name of the dim in messages: `input "x" dim 1`; may be empty
};
CheckedDim dim_of(mlir::Value value, int64_t axis);

// Builds the checks of one op. In a message, {0} is the value of the first side, and {1} is the
// value of the second. The provenance of each side with a known value is appended.
class RequestChecks {
 public:
  RequestChecks(mlir::Operation* op, SegmentIndex segment, std::vector<Check>& checks)
      : op_(op), segment_(segment), checks_(checks) {}

  void require_equal(const CheckedDim& a, const CheckedDim& b);
  void require_broadcastable(const CheckedDim& a, const CheckedDim& b);
  void require_at_least(const CheckedDim& a, const CheckedDim& b, const std::string& message);
  void require_at_most(const CheckedDim& a, const CheckedDim& b);
  void require_multiple_of(const CheckedDim& a, int64_t factor, const std::string& message);
  // The operands' shapes broadcast pairwise, aligned at the last dim. The last `skip_last` dims are
  // not checked.
  void require_broadcast(mlir::ValueRange operands, int64_t skip_last = 0);
  // Every dim of every tensor result is at least 0. Windows, borders and repeats could make it
  // negative.
  void require_results();
  // Any kind of condition. Does nothing if an equal check already runs before the op.
  void add(Check::Kind kind, const CheckedDim& a, const CheckedDim& b, const std::string& message);

 private:
  mlir::Operation* op_;
  SegmentIndex segment_;
  std::vector<Check>& checks_;
};

}  // namespace scopevm::compiler::graph
