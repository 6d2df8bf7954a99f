// The layouts of a model's images.
#include <map>
#include <set>

#include "compiler/dims/dim_text.h"
#include "compiler/explain/report.h"
#include "compiler/graph/diagnostics/dim_trace.h"
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::explain {
namespace {

// An op's name in the model and its kind. Several ops can have the same: those of one node, such as
// InstanceNormalization.
using NamedKind = std::pair<std::string, std::string>;

// The name of the first op of the kernel that computes an op; empty for the first op itself. Only
// ops whose name and kind are unique have an entry.
std::map<NamedKind, std::string> kernels_of_ops(mlir::ModuleOp graph) {
  std::map<NamedKind, std::string> kernels;
  std::set<NamedKind> seen;
  const auto add = [&](mlir::Operation* op, const std::string& kernel) {
    const NamedKind key(graph::DimTrace::name(op), graph::op_kind(op));
    if (seen.insert(key).second)
      kernels[key] = kernel;
    else
      kernels.erase(key);
  };
  graph->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    auto group = mlir::dyn_cast<graph::GroupOp>(op);
    if (!group) return add(op, ""), mlir::WalkResult::advance();
    std::string first;
    for (mlir::Operation& inner : group.getBody().front().without_terminator()) {
      if (mlir::isa<graph::ConstantOp>(inner)) continue;
      add(&inner, first);
      if (first.empty()) first = graph::DimTrace::name(&inner);
    }
    return mlir::WalkResult::skip();
  });
  return kernels;
}

Result<LayoutExplanation> layout(pipeline::Context& context) {
  SCOPEVM_ASSIGN_OR_RETURN(const pipeline::Placed placed, pipeline::place_model(context));
  LayoutExplanation explanation{.warnings = placed.warnings};
  const layouts::Report& report = placed.runs.front()->layouts;
  // Layouts and fusion replace and remove ops, so names and kinds must be unique before and after.
  std::map<NamedKind, int> counts;
  for (const layouts::Report::Op& op : report.ops) ++counts[{op.name, op.kind}];
  const auto kernels = kernels_of_ops(placed.graphs.front().module());
  for (const layouts::Report::Op& op : report.ops) {
    const NamedKind key(op.name, op.kind);
    const auto found = counts[key] == 1 ? kernels.find(key) : kernels.end();
    explanation.ops.push_back(
        {op.name, op.kind, op.is_blocked, op.seconds, op.other_seconds, op.is_measured, op.forms,
         found == kernels.end() ? std::string() : found->second, op.schedule});
  }
  for (const layouts::Report::Conversion& conversion : report.conversions) {
    FormulaText text = formula_text({&conversion.bytes, 1});
    explanation.conversions.push_back({.value = conversion.value,
                                       .to_blocked = conversion.to_blocked,
                                       .formula = std::move(text.formulas.front()),
                                       .definitions = std::move(text.definitions),
                                       .seconds = conversion.seconds});
  }
  return explanation;
}

const Report<&layout> kLayoutReport;

}  // namespace
}  // namespace scopevm::compiler::explain
