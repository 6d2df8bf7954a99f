// See split.h.
#include "compiler/split/split.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/split/constrain.h"
#include "compiler/split/pipeline/pipeline_stages.h"
#include "compiler/split/tensor/form.h"
#include "compiler/split/tensor/split_tensors.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::split {
namespace {

// Constrains the results of ops to the devices of their stages.
void constrain_results(const StageOfOp& stages, llvm::ArrayRef<std::string> devices) {
  for (const auto& [op, stage] : stages) {
    mlir::OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    for (mlir::Value result : op->getResults()) {
      const mlir::Value placed = constrain(builder, result, devices[static_cast<size_t>(stage)]);
      result.replaceAllUsesExcept(placed, placed.getDefiningOp());
    }
  }
}

// The last stage of the ops that `value` depends on.
int stage_of(mlir::Value value, const StageOfOp& stages,
             llvm::DenseMap<mlir::Operation*, int>& known) {
  llvm::SmallVector<mlir::Operation*> open;
  const auto known_stage = [&](mlir::Value operand) {
    mlir::Operation* const op = operand.getDefiningOp();
    return op == nullptr ? 0 : known.lookup(op);
  };
  if (mlir::Operation* const op = value.getDefiningOp()) open.push_back(op);
  while (!open.empty()) {
    mlir::Operation* const op = open.back();
    const size_t before = open.size();
    for (mlir::Value operand : op->getOperands())
      if (mlir::Operation* const maker = operand.getDefiningOp(); maker && !known.contains(maker))
        open.push_back(maker);
    if (open.size() > before) continue;
    open.pop_back();
    const auto assigned = stages.find(op);
    int stage = assigned == stages.end() ? 0 : assigned->second;
    for (mlir::Value operand : op->getOperands()) stage = std::max(stage, known_stage(operand));
    known[op] = stage;
  }
  return known_stage(value);
}

// A state is on the rank of the stage that computes what is appended to it.
void place_states(mlir::func::FuncOp function, const StageOfOp& stages,
                  llvm::ArrayRef<std::string> devices, StateChoices& choices) {
  llvm::DenseMap<mlir::Operation*, int> known;
  mlir::Operation* const end = function.getBody().front().getTerminator();
  for (const InPlaceState& state : states_of(function)) {
    const auto [choice, is_new] = choices.try_emplace(graph::input_name(state.value));
    if (is_new) choice->second.stage = stage_of(end->getOperand(state.output), stages, known);
    if (choice->second.stage > 0)
      place_state(function, state, devices[static_cast<size_t>(choice->second.stage)]);
  }
}

// The highest latency and the lowest bandwidth of all pairs of ranks.
Link slowest_link(const Machine& machine) {
  Link slowest = machine.link(0, 1);
  for (int b = 1; b < machine.ranks(); ++b)
    for (int a = 0; a < b; ++a) {
      const Link link = machine.link(a, b);
      slowest.latency_seconds = std::max(slowest.latency_seconds, link.latency_seconds);
      slowest.bytes_per_second = std::min(slowest.bytes_per_second, link.bytes_per_second);
    }
  return slowest;
}

}  // namespace

Status split(mlir::ModuleOp module, const Machine& machine, const options::Split& by,
             StateChoices& states) {
  const std::string option = "--split " + by.text();
  if (machine.ranks() != by.ranks())
    return {StatusCode::kInvalidArgument,
            option + ": expected a machine with " + runtime::count_text(by.ranks(), "rank") +
                ", given one with " + runtime::count_text(machine.ranks(), "rank")};
  std::vector<std::string> devices;
  for (int rank = 0; rank < by.ranks(); ++rank)
    devices.push_back(device_of_rank(machine, rank).name);
  bool has_divided = by.tensor == 1;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    // A private function can be called in several stages.
    if ((!function.isPublic() && by.pipeline > 1) || function.isExternal()) continue;
    StageOfOp stages;
    if (by.pipeline > 1) {
      Result<StageOfOp> found = pipeline_stages(function, by.pipeline);
      if (!found.ok()) return std::move(found).status().with_context(option);
      stages = *std::move(found);
    }
    if (by.tensor == 1) {
      place_states(function, stages, devices, states);
      constrain_results(stages, devices);
      continue;
    }
    const Group group(by.tensor, slowest_link(machine));
    SCOPEVM_ASSIGN_OR_RETURN(const bool divides,
                             split_tensors(function, group, stages, devices, states));
    has_divided = has_divided || divides;
  }
  if (!has_divided)
    return {StatusCode::kInvalidArgument,
            option +
                ": no op of the model has weights that can be divided, or takes less time on "
                "several ranks"};
  return {};
}

}  // namespace scopevm::compiler::split
