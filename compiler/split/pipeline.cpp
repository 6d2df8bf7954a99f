// Assigns ops to the stages of a pipeline; see split.h.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compiler/dims/representative.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/split/split.h"
#include "compiler/split/stages.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::split {
namespace {

using graph::TensorType;

// Rough rates of one core: only the ratios of the times of ops matter.
constexpr double kFlopsPerSecond = 50e9;
constexpr double kBytesPerSecond = 10e9;

double bytes_of(mlir::Value value) {
  const auto tensor = mlir::dyn_cast<TensorType>(value.getType());
  return tensor ? representative(tensor.getBytes()) : 0;
}

bool is_constant(mlir::Value value) {
  mlir::Operation* const op = value.getDefiningOp();
  return op != nullptr && mlir::matchPattern(op, mlir::m_Constant());
}

// Whether an op can run on any rank: constants, views and ops of the VM are placed where others
// need them.
bool can_be_assigned(mlir::Operation* op) {
  if (op->getNumResults() == 0 || mlir::matchPattern(op, mlir::m_Constant()) ||
      mlir::isa<mlir::ViewLikeOpInterface, graph::HostOp, graph::MergeOp, graph::FunctionUserOp,
                graph::OnDeviceOp, graph::DeviceCopyOp>(op))
    return false;
  return llvm::all_of(op->getResults(), [](mlir::Value result) {
    const auto tensor = mlir::dyn_cast<TensorType>(result.getType());
    return tensor && tensor.getDtype() != DType::kStr;
  });
}

// The device of a rank: its first CPU.
const Device& device_of_rank(const Machine& machine, int rank) {
  return *std::ranges::find_if(machine.devices, [&](const Device& device) {
    return device.is_host() && device.rank == rank;
  });
}

// Smaller constants are scalars and parameters of normalisations.
constexpr double kLeastWeightBytes = 4096;

class PipelineSplit {
 public:
  PipelineSplit(mlir::func::FuncOp function, const Machine& machine)
      : function_(function), machine_(machine) {}

  Status run(int ranks) {
    function_.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      if (can_be_assigned(op)) add(op);
    });
    if (ops_.size() < static_cast<size_t>(ranks))
      return {StatusCode::kInvalidArgument,
              "--split pipeline=" + std::to_string(ranks) + ": the model has " +
                  std::to_string(ops_.size()) +
                  " ops with weights or products, expected at least one for each rank"};
    count_values_between();
    const std::vector<size_t> firsts = divide(work_, weight_bytes_, static_cast<size_t>(ranks));
    for (size_t i = 0; i < ops_.size(); ++i)
      assign(ops_[i], static_cast<int>(std::ranges::upper_bound(firsts, i) - firsts.begin()) - 1);
    return {};
  }

 private:
  void add(mlir::Operation* op) {
    Work work;
    for (mlir::Value operand : op->getOperands()) {
      if (!is_constant(operand) || bytes_of(operand) < kLeastWeightBytes) continue;
      const auto [known, is_new] = weights_.try_emplace(operand, weight_bytes_.size());
      if (is_new) weight_bytes_.push_back(bytes_of(operand));
      work.weights.push_back(known->second);
    }
    if (work.weights.empty() && !mlir::isa<graph::ContractionOp, graph::WindowOp>(op)) return;
    auto cost = mlir::dyn_cast<graph::CostOp>(op);
    if (cost)
      work.seconds = std::max(representative(cost.getFlops()) / kFlopsPerSecond,
                              representative(cost.getBytes()) / kBytesPerSecond);
    ops_.push_back(op);
    work_.push_back(std::move(work));
  }

  // The op of the function's body that contains `op`.
  mlir::Operation* in_body(mlir::Operation* op) {
    return function_.getBody().front().findAncestorOpInBlock(*op);
  }

  void count_values_between() {
    // By op of the body: its position.
    llvm::DenseMap<mlir::Operation*, size_t> positions;
    for (mlir::Operation& op : function_.getBody().front()) positions[&op] = positions.size();
    // By position: the bytes of the values made before it and used there or later.
    std::vector<double> bytes(positions.size() + 1, 0);
    for (mlir::Operation& op : function_.getBody().front()) {
      if (mlir::matchPattern(&op, mlir::m_Constant())) continue;
      for (mlir::Value value : op.getResults()) {
        size_t last = 0;
        for (mlir::Operation* user : value.getUsers())
          if (mlir::Operation* const at = in_body(user)) last = std::max(last, positions[at]);
        for (size_t i = positions[&op] + 1; i <= last; ++i) bytes[i] += bytes_of(value);
      }
    }
    for (size_t i = 0; i < ops_.size(); ++i) {
      work_[i].bytes_before = bytes[positions[in_body(ops_[i])]];
      work_[i].seconds_before = work_[i].bytes_before / Link().bytes_per_second;
    }
  }

  void assign(mlir::Operation* op, int rank) const {
    const std::string& device = device_of_rank(machine_, rank).name;
    mlir::OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    for (mlir::Value result : op->getResults()) {
      auto annotation = builder.create<graph::OnDeviceOp>(
          op->getLoc(), result, builder.getStringAttr(device), true, false);
      annotation->setAttr(graph::kConstraintSource, builder.getStringAttr("--split"));
      result.replaceAllUsesExcept(annotation.getResult(), annotation);
    }
  }

  mlir::func::FuncOp function_;
  const Machine& machine_;
  std::vector<mlir::Operation*> ops_;
  std::vector<Work> work_;  // of `ops_`
  llvm::DenseMap<mlir::Value, size_t> weights_;
  std::vector<double> weight_bytes_;
};

}  // namespace

Status split_pipeline(mlir::ModuleOp module, const Machine& machine, int ranks) {
  if (machine.ranks() != ranks)
    return {StatusCode::kInvalidArgument,
            "--split pipeline=" + std::to_string(ranks) + ": expected a machine with " +
                runtime::count_text(ranks, "rank") + ", given one with " +
                runtime::count_text(machine.ranks(), "rank")};
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      SCOPEVM_RETURN_IF_ERROR(PipelineSplit(function, machine).run(ranks));
  return {};
}

}  // namespace scopevm::compiler::split
