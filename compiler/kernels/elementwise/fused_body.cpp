// FusedBody: its ops, its vector length and its cost.
#include "compiler/kernels/elementwise/fused_body.h"

#include <algorithm>

namespace scopevm::compiler::kernels {

bool FusedBody::computes(mlir::Value value) const {
  return value.getDefiningOp() && llvm::is_contained(ops, value.getDefiningOp());
}

FusedBody fused_body(mlir::Operation* op) {
  FusedBody body{.op = op};
  auto group = mlir::dyn_cast<graph::GroupOp>(op);
  if (!group) {
    body.ops.push_back(op);
    body.results.append(op->result_begin(), op->result_end());
    return body;
  }
  mlir::Block& block = group.getBody().front();
  for (mlir::Operation& inner : block.without_terminator())
    if (!mlir::isa<graph::ConstantOp>(inner)) body.ops.push_back(&inner);
  mlir::Operation* yield = block.getTerminator();
  body.results.append(yield->operand_begin(), yield->operand_end());
  return body;
}

int lane_count(const FusedBody& body, const schedule::Target& target) {
  int64_t widest = 1;
  auto widen = [&](mlir::Value value) {
    DType dtype = graph::type_of(value).getDtype();
    bool is_half = dtype == DType::kF16 || dtype == DType::kBF16;
    // Arithmetic on 16-bit floats uses f32, so they count as 4 bytes.
    widest = std::max(widest, is_half ? 4 : byte_size(dtype));
  };
  for (mlir::Operation* op : body.ops) {
    for (mlir::Value operand : op->getOperands()) widen(operand);
    for (mlir::Value result : op->getResults()) widen(result);
  }
  return target.lanes(static_cast<int>(std::min<int64_t>(widest, 4)));
}

int64_t cost_of(const FusedBody& body) {
  constexpr int64_t kOther = 6;  // for reductions and row ops, which visit elements several times
  int64_t cost = 0;
  for (mlir::Operation* op : body.ops) {
    auto elementwise = mlir::dyn_cast<graph::ElementwiseOp>(op);
    cost += elementwise ? elementwise.getOperationsPerElement() : kOther;
  }
  return cost;
}

}  // namespace scopevm::compiler::kernels
