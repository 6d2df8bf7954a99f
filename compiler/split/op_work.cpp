// See op_work.h.
#include "compiler/split/op_work.h"

#include "compiler/dims/representative.h"
#include "compiler/graph/graph_ops.h"
#include "mlir/IR/Matchers.h"

namespace scopevm::compiler::split {
namespace {

constexpr double kFlopsPerSecond = 50e9;
constexpr double kBytesPerSecond = 10e9;

}  // namespace

bool is_constant(mlir::Value value) {
  mlir::Operation* const op = value.getDefiningOp();
  return op != nullptr && mlir::matchPattern(op, mlir::m_Constant());
}

double bytes_of(mlir::Value value) {
  const auto tensor = mlir::dyn_cast<graph::TensorType>(value.getType());
  return tensor ? representative(tensor.getBytes()) : 0;
}

double seconds_of(mlir::Operation* op) {
  auto cost = mlir::dyn_cast<graph::CostOp>(op);
  if (!cost) return 0;
  double bytes = representative(cost.getBytes());
  auto selecting = mlir::dyn_cast<graph::SelectingOp>(op);
  if (mlir::isa<mlir::ViewLikeOpInterface>(op))
    bytes = 0;
  else if (selecting && selecting.selectsElements())  // a row of a table for each index
    bytes = 2 * bytes_of(op->getResult(0));
  return std::max(representative(cost.getFlops()) / kFlopsPerSecond, bytes / kBytesPerSecond);
}

}  // namespace scopevm::compiler::split
