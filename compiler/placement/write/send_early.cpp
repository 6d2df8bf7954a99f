// Orders the copies between ranks; see place.h.
#include <algorithm>
#include <map>
#include <utility>

#include "compiler/graph/diagnostics/dim_trace.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/placement/place.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/Matchers.h"

namespace scopevm::compiler::placement {
namespace {

// The ops of a block have positions in ascending order. A copy that moves gets the position of the
// op that it follows, so that several can have one.
class EarlySends {
 public:
  EarlySends(mlir::Block& block, const Machine& machine) : block_(block), machine_(machine) {}

  void order() {
    int64_t position = 0;
    for (mlir::Operation& op : llvm::make_early_inc_range(block_)) {
      if (!move_if_sent(&op)) {
        add(&op, position);
        last_at_[position] = &op;
      }
      ++position;
    }
  }

 private:
  static constexpr int64_t kStart = -1;

  // No value: the value has no place, or the machine does not have it.
  std::optional<int> rank_of(mlir::Value value) const {
    const auto tensor = mlir::dyn_cast<graph::TensorType>(value.getType());
    const graph::PlaceAttr place = tensor ? tensor.getPlace() : graph::PlaceAttr();
    const std::optional<PoolIndex> pool = place ? pool_of(place, machine_) : std::nullopt;
    return pool ? std::optional(machine_.rank_of(*pool)) : std::nullopt;
  }

  // An op that stays: copies to its rank follow it. They follow an op with other effects in any
  // case.
  void add(mlir::Operation* op, int64_t position) {
    positions_[op] = position;
    if (mlir::matchPattern(op, mlir::m_Constant())) return;
    auto user = mlir::dyn_cast<graph::FunctionUserOp>(op);
    const bool is_call = user && user.isCall();
    const bool is_kernel = op->getNumRegions() == 0 || op->hasTrait<graph::HasIsolatedBody>();
    if (is_call || !is_kernel || !graph::symbols_defined_by(op).empty())
      after_all_ = position;
    else if (mlir::isa<graph::DeviceCopyOp>(op))
      after_of_rank_[rank_of(op->getResult(0)).value_or(0)] = position;
    else
      after_of_rank_[machine_.devices[device_of(op, machine_)].rank] = position;
  }

  static int64_t at_least(const std::map<int, int64_t>& positions, int rank) {
    const auto found = positions.find(rank);
    return found == positions.end() ? kStart : found->second;
  }

  // Whether no op that follows in the block uses the value.
  bool is_dead(mlir::Value value) const {
    return llvm::all_of(value.getUsers(), [&](mlir::Operation* user) {
      mlir::Operation* const in_block = block_.findAncestorOpInBlock(*user);
      return in_block != nullptr && positions_.contains(in_block);
    });
  }

  // Returns false for other ops than copies between ranks.
  bool move_if_sent(mlir::Operation* op) {
    auto copy = mlir::dyn_cast<graph::DeviceCopyOp>(op);
    if (!copy) return false;
    const std::optional<int> from = rank_of(copy.getX()), to = rank_of(copy.getResult());
    if (!from || !to || *from == *to) return false;
    int64_t& last_send = sends_.try_emplace({*from, *to}, kStart).first->second;
    int64_t after = std::max({after_all_, at_least(after_of_rank_, *to), last_send});
    mlir::Operation* const definition = copy.getX().getDefiningOp();
    if (const auto found = positions_.find(definition); found != positions_.end())
      after = std::max(after, found->second);
    positions_[op] = last_send = after;
    mlir::Operation*& last = last_at_[after];
    if (last == nullptr)
      op->moveBefore(&block_, block_.begin());
    else
      op->moveAfter(last);
    last = op;
    // A copy to the sender that precedes this one would be live together with its value.
    if (is_dead(copy.getX()))
      after_of_rank_[*from] = std::max(at_least(after_of_rank_, *from), after);
    return true;
  }

  mlir::Block& block_;
  const Machine& machine_;
  llvm::DenseMap<mlir::Operation*, int64_t> positions_;  // of the ops until now
  std::map<int64_t, mlir::Operation*> last_at_;          // by position; kStart: the first copies
  int64_t after_all_ = kStart;                           // the last op that no copy can precede
  std::map<int, int64_t> after_of_rank_;                 // and of those to a rank
  std::map<std::pair<int, int>, int64_t> sends_;         // the last copy from a rank to another
};

}  // namespace

void send_early(mlir::ModuleOp module, const Machine& machine) {
  if (machine.ranks() == 1) return;
  module.walk([&](mlir::Block* block) {
    if (!block->getParentOp()->hasTrait<graph::HasIsolatedBody>())
      EarlySends(*block, machine).order();
  });
}

}  // namespace scopevm::compiler::placement
