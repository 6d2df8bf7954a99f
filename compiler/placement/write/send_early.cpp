// Orders the copies between ranks; see place.h.
#include "compiler/graph/diagnostics/dim_trace.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/placement/place.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/Matchers.h"

namespace scopevm::compiler::placement {
namespace {

class EarlySends {
 public:
  explicit EarlySends(const Machine& machine) : machine_(machine) {}

  void order(mlir::Block& block) {
    llvm::SmallVector<graph::DeviceCopyOp> sends;
    for (auto copy : block.getOps<graph::DeviceCopyOp>()) {
      const std::optional<int> from = rank_of(copy.getX()), to = rank_of(copy.getResult());
      if (from && to && from != to) sends.push_back(copy);
    }
    for (graph::DeviceCopyOp send : sends) {
      mlir::Operation* first = send;
      while (mlir::Operation* const before = first->getPrevNode()) {
        if (!can_follow(before, send)) break;
        first = before;
      }
      if (first != send) send->moveBefore(first);
    }
  }

 private:
  // No value: the value has no place, or the machine does not have it.
  std::optional<int> rank_of(mlir::Value value) const {
    const graph::PlaceAttr place = graph::type_of(value).getPlace();
    const std::optional<PoolIndex> pool = place ? pool_of(place, machine_) : std::nullopt;
    return pool ? std::optional(machine_.rank_of(*pool)) : std::nullopt;
  }

  // Whether `op` can run after the copy. The memory of the rank that receives it does not change:
  // it has the copy while ops of other ranks run.
  bool can_follow(mlir::Operation* op, graph::DeviceCopyOp send) const {
    if (op == send.getX().getDefiningOp()) return false;
    if (mlir::isa<graph::DeviceCopyOp>(op) || mlir::matchPattern(op, mlir::m_Constant()))
      return true;
    auto user = mlir::dyn_cast<graph::FunctionUserOp>(op);
    const bool is_call = user && user.isCall();
    const bool is_kernel = op->getNumRegions() == 0 || op->hasTrait<graph::HasIsolatedBody>();
    return !is_call && is_kernel && graph::symbols_defined_by(op).empty() &&
           machine_.devices[device_of(op, machine_)].rank != rank_of(send.getResult());
  }

  const Machine& machine_;
};

}  // namespace

void send_early(mlir::ModuleOp module, const Machine& machine) {
  if (machine.ranks() == 1) return;
  EarlySends sends(machine);
  module.walk([&](mlir::Block* block) {
    if (!block->getParentOp()->hasTrait<graph::HasIsolatedBody>()) sends.order(*block);
  });
}

}  // namespace scopevm::compiler::placement
