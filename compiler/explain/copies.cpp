// The copies that a call makes, and the nodes of the placed graph.
#include "compiler/dims/dim_text.h"
#include "compiler/explain/report.h"
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/placement/why/call_tree.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "vm/format/schema/entry_name.h"

namespace scopevm::compiler::explain {
namespace {

using graph::TensorType;

// Collects the nodes of the placed graph. In the body of a loop, a carried value is represented by
// the node of its initial value.
class NodeReader {
 public:
  explicit NodeReader(std::vector<CopyExplanation::Node>& nodes) : nodes_(nodes) {}

  void read(mlir::func::FuncOp function) {
    for (mlir::BlockArgument argument : function.getArguments())
      add(argument, {graph::input_name(argument), "input", place_of(argument.getType()), {}});
    read_block(function.getBody().front());
  }

 private:
  static std::string place_of(mlir::Type type) {
    auto tensor = mlir::dyn_cast<TensorType>(type);
    return tensor && tensor.getPlace() ? tensor.getPlace().str() : "";
  }

  void add(mlir::Value value, CopyExplanation::Node node) {
    node_of_[value] = static_cast<int>(nodes_.size());
    nodes_.push_back(std::move(node));
  }

  void read_block(mlir::Block& block) {
    for (mlir::Operation& op : block.without_terminator()) {
      // A constant is not a node: each device that reads it has its own instance, without a copy.
      if (mlir::isa<graph::ConstantOp>(op)) continue;
      CopyExplanation::Node node{graph::op_name(&op), op.getName().stripDialect().str(), "", {}};
      for (mlir::Value operand : op.getOperands())
        if (auto from = node_of_.find(operand); from != node_of_.end())
          node.reads.push_back(from->second);
      for (mlir::Value result : op.getResults()) {
        node_of_[result] = static_cast<int>(nodes_.size());
        node.place = place_of(result.getType());
      }
      nodes_.push_back(std::move(node));
      // A group is one node, so its body is not read.
      if (mlir::isa<graph::GroupOp>(op)) continue;
      for (mlir::Region& region : op.getRegions())
        for (mlir::Block& inner : region) {
          for (auto [argument, initial] : llvm::zip(inner.getArguments(), op.getOperands()))
            if (auto from = node_of_.find(initial); from != node_of_.end())
              node_of_[argument] = from->second;
          read_block(inner);
        }
    }
  }

  std::vector<CopyExplanation::Node>& nodes_;
  llvm::DenseMap<mlir::Value, int> node_of_;
};

// The value of `bytes`, if `dims` fix all of its dims.
std::optional<int64_t> known_bytes(DimExpr bytes, const std::map<std::string, DimBound>& dims) {
  return bytes.evaluate([&](std::string_view name) {
    auto bound = dims.find(std::string(name));
    const bool is_fixed = bound != dims.end() && bound->second.min == bound->second.max;
    return is_fixed ? bound->second.min : std::nullopt;
  });
}

Result<double> copy_seconds(const CopyExplanation::Copy& copy, const Machine& machine) {
  if (!copy.bytes) return 0;
  SCOPEVM_ASSIGN_OR_RETURN(const PoolIndex from, placement::parse_pool(copy.from, machine));
  SCOPEVM_ASSIGN_OR_RETURN(const PoolIndex to, placement::parse_pool(copy.to, machine));
  return machine.copy_seconds(from, to, static_cast<double>(*copy.bytes));
}

// `dims` are those of main.
CopyExplanation::Copy explained(const placement::Copy& copy, bool is_spill,
                                const std::map<std::string, DimBound>& dims) {
  const bool is_known = !copy.is_local || copy.bytes.is_constant();
  FormulaText text = formula_text({&copy.bytes, 1});
  return {.value = copy.value,
          .formula = std::move(text.formulas.front()),
          .bytes = is_known ? known_bytes(copy.bytes, dims) : std::nullopt,
          .times = copy.times,
          .from = copy.from,
          .to = copy.to,
          .producer_reason = copy.producer_reason,
          .consumer_reason = copy.consumer_reason,
          .is_spill = is_spill,
          .function = copy.function,
          .times_depend_on = copy.times_depend_on,
          .has_own_dims = !is_known,
          .definitions = std::move(text.definitions)};
}

// Explains the limits of pools and the spills. The spills are known only after the kernels are
// generated, because the limits include the scratch memory of kernels.
void explain_limits(const pipeline::Placed& placed, const std::map<std::string, DimBound>& dims,
                    CopyExplanation& explanation) {
  if (!placed.lowering) return;
  const Machine& machine = placed.machine;
  const placement::CallTree calls(placed.graphs.front().module(), machine.devices.size() > 1);
  for (const memory::SpillReport& spill : placed.lowering->spills) {
    CopyExplanation::Limit limit{
        machine.pool_name(spill.pool), spill.limit, spill.needed, {}, spill.seconds,
        spill.lower_bound_seconds};
    for (const memory::SpillReport::Move& move : spill.moves)
      limit.moved.push_back(move.value + " in " + machine.pool_name(move.to));
    explanation.limits.push_back(std::move(limit));
    const placement::FunctionCalls& function = calls.of(spill.function);
    for (const memory::SpillReport::Copy& copy : spill.copies)
      for (const placement::CallSite& site : function.sites) {
        placement::Copy made{copy.value,
                             copy.bytes,
                             copy.times,
                             machine.pool_name(copy.from),
                             machine.pool_name(copy.to),
                             copy.producer_reason,
                             copy.consumer_reason};
        made = copy_at(site, function, std::move(made), copy.times * site.times);
        explanation.copies.push_back(explained(made, true, dims));
      }
  }
}

Result<CopyExplanation> copies(pipeline::Context& context) {
  CopyExplanation explanation;
  SCOPEVM_ASSIGN_OR_RETURN(pipeline::Placed placed, pipeline::place_model(context));
  const placement::Report& report = placed.runs.front()->report;
  const std::map<std::string, DimBound>& dims = context.options.dims;
  for (const placement::Copy& copy : report.copies)
    explanation.copies.push_back(explained(copy, false, dims));
  explain_limits(placed, dims, explanation);
  for (CopyExplanation::Copy& copy : explanation.copies) {
    SCOPEVM_ASSIGN_OR_RETURN(copy.seconds, copy_seconds(copy, placed.machine));
  }
  if (auto main =
          placed.graphs.front().module().lookupSymbol<mlir::func::FuncOp>(format::kEntryName))
    NodeReader(explanation.nodes).read(main);
  explanation.seconds = pipeline::seconds_of(placed);
  explanation.is_proved = report.is_proved;
  explanation.notes = report.notes;
  explanation.warnings = std::move(placed.warnings);
  return explanation;
}

const Report<&copies> kCopiesReport;

}  // namespace
}  // namespace scopevm::compiler::explain
