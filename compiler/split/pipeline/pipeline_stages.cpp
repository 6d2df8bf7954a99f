// See pipeline_stages.h.
#include "compiler/split/pipeline/pipeline_stages.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compiler/graph/graph_ops.h"
#include "compiler/machine/machine.h"
#include "compiler/split/op_work.h"
#include "compiler/split/pipeline/divide.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::split {
namespace {

using graph::TensorType;

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

// Smaller constants are scalars and parameters of normalisations.
constexpr double kLeastWeightBytes = 4096;

class PipelineSplit {
 public:
  explicit PipelineSplit(mlir::func::FuncOp function) : function_(function) {}

  Result<StageOfOp> run(int parts) {
    function_.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      if (can_be_assigned(op)) add(op);
    });
    if (ops_.size() < static_cast<size_t>(parts))
      return Status(StatusCode::kInvalidArgument,
                    "the model has " +
                        runtime::count_text(static_cast<int64_t>(ops_.size()), "op") +
                        " with weights or products, expected at least one for each of the " +
                        std::to_string(parts) + " parts");
    count_values_between();
    const std::vector<size_t> firsts = divide(work_, weight_bytes_, static_cast<size_t>(parts));
    StageOfOp stages;
    for (size_t i = 0; i < ops_.size(); ++i)
      stages[ops_[i]] = static_cast<int>(std::ranges::upper_bound(firsts, i) - firsts.begin()) - 1;
    return stages;
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
    work.seconds = seconds_of(op);
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

  mlir::func::FuncOp function_;
  std::vector<mlir::Operation*> ops_;
  std::vector<Work> work_;  // of `ops_`
  llvm::DenseMap<mlir::Value, size_t> weights_;
  std::vector<double> weight_bytes_;
};

}  // namespace

Result<StageOfOp> pipeline_stages(mlir::func::FuncOp function, int stages) {
  return PipelineSplit(function).run(stages);
}

}  // namespace scopevm::compiler::split
