// Checks that the shape function makes for an op: see checks.h.
#include "compiler/kernels/checks.h"

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/generator.h"
#include "llvm/ADT/TypeSwitch.h"

namespace scopevm::kernels {
namespace {

using graph::TensorType;

TensorType type_of(mlir::Value value) { return mlir::cast<TensorType>(value.getType()); }

class Collector {
 public:
  Collector(mlir::Operation* op, int scope, std::vector<Check>& checks)
      : op_(op), scope_(scope), checks_(checks) {}

  void equal(DimExpr a, DimExpr b, const std::string& what) {
    if (a == b) return;
    add({Check::Kind::kEqual, a, b, what + " are {0} and {1}, which differ"});
  }

  void broadcastable(DimExpr a, DimExpr b, int64_t axis) {
    if (a == b || a.is_constant(1) || b.is_constant(1)) return;
    add({Check::Kind::kBroadcastable, a, b,
         "dims {0} and {1} at axis " + std::to_string(axis) + " do not broadcast"});
  }

  // Pairwise broadcast of the operands' shapes, aligned at the last dim.
  void broadcast(mlir::ValueRange operands, int64_t skip_last = 0) {
    for (size_t i = 0; i < operands.size(); ++i)
      for (size_t j = i + 1; j < operands.size(); ++j) {
        TensorType a = type_of(operands[i]), b = type_of(operands[j]);
        for (int64_t k = 1 + skip_last; k <= std::min(a.getRank(), b.getRank()); ++k)
          broadcastable(a.getDim(a.getRank() - k), b.getDim(b.getRank() - k),
                        std::max(a.getRank(), b.getRank()) - k);
      }
  }

  void concat(graph::ConcatOp op) {
    TensorType first = type_of(op.getInputs().front());
    for (mlir::Value input : op.getInputs().drop_front())
      for (int64_t axis = 0; axis < first.getRank(); ++axis)
        if (axis != static_cast<int64_t>(op.getAxis()))
          equal(first.getDim(axis), type_of(input).getDim(axis),
                "dims " + std::to_string(axis) + " of its inputs");
  }

  void at_least(DimExpr a, DimExpr b, const std::string& what) {
    if (is_never_negative(a - b)) return;
    add({Check::Kind::kAtLeast, a, b, what + " are {0} and {1}, which is less"});
  }

  // Indices along one axis: x has as many elements as they on every other one.
  void indices_of_elements(mlir::Value x, mlir::Value indices, uint64_t axis) {
    for (int64_t d = 0; d < type_of(indices).getRank() && d < type_of(x).getRank(); ++d)
      if (d != static_cast<int64_t>(axis))
        at_least(type_of(x).getDim(d), type_of(indices).getDim(d),
                 "dims " + std::to_string(d) + " of its input and its indices");
  }

  void scatter_elements(graph::ScatterElementsOp op) {
    indices_of_elements(op.getX(), op.getIndices(), op.getAxis());
    equal(type_of(op.getIndices()).getElementCount(), type_of(op.getUpdates()).getElementCount(),
          "the element counts of indices and updates");
  }

  void gather_nd(graph::GatherNdOp op) {
    for (int64_t d = 0; d < static_cast<int64_t>(op.getBatchDims()); ++d)
      equal(type_of(op.getX()).getDim(d), type_of(op.getIndices()).getDim(d),
            "batch dims " + std::to_string(d) + " of its input and its indices");
  }

  void det(graph::DetOp op) {
    TensorType x = type_of(op.getX());
    equal(x.getDim(x.getRank() - 2), x.getDim(x.getRank() - 1), "a matrix's dims");
  }

  void roi_align(graph::RoiAlignOp op) {
    equal(type_of(op.getBoxes()).getDim(1), 4, "a box's coordinates and 4");
    equal(type_of(op.getBoxes()).getDim(0), type_of(op.getImages()).getDim(0),
          "the numbers of boxes and of image indices");
  }

  void matmul(graph::MatMulOp op) {
    TensorType a = type_of(op.getA()), b = type_of(op.getB());
    if (a.getRank() == 0 || b.getRank() == 0) return;
    bool a_first = op.getTransposeA() && a.getRank() > 1;
    bool b_last = op.getTransposeB() || b.getRank() == 1;
    equal(a.getDim(a.getRank() - (a_first ? 2 : 1)), b.getDim(b.getRank() - (b_last ? 1 : 2)),
          "the contracted dims");
    if (a.getRank() > 2 && b.getRank() > 2) broadcast({op.getA(), op.getB()}, 2);
  }

  void reshape(graph::ReshapeOp op) {
    equal(type_of(op.getX()).getElementCount(), type_of(op.getResult()).getElementCount(),
          "the element counts before and after");
  }

 private:
  void add(Check check) {
    check.message =
        op_->getName().stripDialect().str() + " \"" + op_name(op_) + "\": " + check.message;
    check.scope = scope_;
    for (const Check& other : checks_)
      if (other.kind == check.kind && other.lhs == check.lhs && other.rhs == check.rhs &&
          (other.scope == 0 || other.scope == scope_))
        return;
    checks_.push_back(std::move(check));
  }

  mlir::Operation* op_;
  int scope_;
  std::vector<Check>& checks_;
};

// The first name in a location, looking into fused ones.
std::string name_in(mlir::Location location) {
  if (auto named = mlir::dyn_cast<mlir::NameLoc>(location)) return named.getName().str();
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(location)) {
    std::string names;
    for (mlir::Location part : fused.getLocations()) {
      std::string name = name_in(part);
      if (!name.empty()) names += (names.empty() ? "" : "+") + name;
    }
    return names;
  }
  return "";
}

}  // namespace

std::string op_name(mlir::Operation* op) {
  std::string name = name_in(op->getLoc());
  if (!name.empty()) return name;
  auto group = mlir::dyn_cast<graph::GroupOp>(op);
  if (!group) return op->getName().stripDialect().str();
  for (mlir::Operation& inner : group.getBody().front())
    if (!mlir::isa<graph::ConstantOp, graph::YieldOp>(inner))
      name += (name.empty() ? "" : "+") + op_name(&inner);
  return name;
}

void collect_checks(mlir::Operation* op, int scope, std::vector<Check>& checks) {
  Collector collector(op, scope, checks);
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case<graph::ConcatOp>([&](auto op) { collector.concat(op); })
      .Case<graph::MatMulOp>([&](auto op) { collector.matmul(op); })
      .Case<graph::ReshapeOp>([&](auto op) { collector.reshape(op); })
      .Case<graph::GatherElementsOp>([&](graph::GatherElementsOp op) {
        collector.indices_of_elements(op.getX(), op.getIndices(), op.getAxis());
      })
      .Case<graph::ScatterElementsOp>([&](auto op) { collector.scatter_elements(op); })
      .Case<graph::GatherNdOp>([&](auto op) { collector.gather_nd(op); })
      .Case<graph::DetOp>([&](auto op) { collector.det(op); })
      .Case<graph::RoiAlignOp>([&](auto op) { collector.roi_align(op); })
      .Case<graph::ConvOp>([&](graph::ConvOp op) {
        collector.equal(type_of(op.getX()).getDim(1),
                        type_of(op.getW()).getDim(1) * DimExpr(static_cast<int64_t>(op.getGroup())),
                        "the input's channels and the weight's");
      })
      .Default([&](mlir::Operation* op) {
        if (is_elementwise(op)) collector.broadcast(op->getOperands());
      });
}

}  // namespace scopevm::kernels
