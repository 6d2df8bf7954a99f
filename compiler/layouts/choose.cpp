// Chooses the layout of each op by a minimum cut, in which the source is the blocked layout and the
// sink the layout by channel. An op is an edge to both, with the times in each layout. A value
// whose users have another layout is converted once.
#include "compiler/layouts/layouts.h"

#include "compiler/graph/diagnostics/dim_trace.h"
#include "compiler/layouts/apply.h"
#include "compiler/layouts/candidate.h"
#include "compiler/layouts/expand.h"
#include "compiler/layouts/sink_transposes.h"
#include "compiler/placement/min_cut.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler::layouts {
namespace {

using placement::Cost;
using placement::Network;
using placement::NodeIndex;

constexpr Cost kNever{INT64_MAX / 8, 0};

Cost cost(double seconds) {
  constexpr double kPicoseconds = 1e12, kMost = 1e6;
  return {static_cast<int64_t>(std::min(seconds, kMost) * kPicoseconds), 0};
}

class Chooser {
 public:
  Chooser(mlir::func::FuncOp function, const Machine& machine, ImageLayout layout, bool fast_conv) {
    function.walk([&](mlir::Operation* op) {
      if (std::optional<Candidate> found = candidate(op, machine, fast_conv))
        nodes_[op] = {network_.add_node(), *std::move(found)};
    });
    for (auto& [op, node] : nodes_) {
      const Times times = times_of(node.candidate);
      network_.add_edge(Network::kSource, node.index,
                        layout == ImageLayout::kBlocked ? kNever : cost(times.plain));
      // Equal times: by channel.
      network_.add_edge(node.index, Network::kSink, cost(times.blocked) + Cost{1, 0});
      if (node.candidate.has_blocked_result) add_value(op->getResult(0), node.index);
      for (mlir::Value image : node.candidate.images)
        if (!maker_of(image)) add_value(image, std::nullopt);
    }
  }

  // The candidates that become blocked, in program order.
  std::vector<Candidate> choose(Report& report) {
    const auto is_plain = network_.cut();
    std::vector<Candidate> blocked;
    for (auto& [op, node] : nodes_) {
      const Times times = times_of(node.candidate);
      const bool is_blocked = !is_plain[node.index];
      report.ops.push_back({.name = graph::DimTrace::name(op->getResult(0)),
                            .kind = op->getName().stripDialect().str(),
                            .is_blocked = is_blocked,
                            .seconds = is_blocked ? times.blocked : times.plain,
                            .other_seconds = is_blocked ? times.plain : times.blocked});
      if (is_blocked) blocked.push_back(node.candidate);
    }
    return blocked;
  }

 private:
  struct Node {
    NodeIndex index;
    Candidate candidate;
  };

  // The candidate whose blocked form computes the value in blocked form.
  const Node* maker_of(mlir::Value value) const {
    const auto found = value.getDefiningOp() ? nodes_.find(value.getDefiningOp()) : nodes_.end();
    return found != nodes_.end() && found->second.candidate.has_blocked_result ? &found->second
                                                                               : nullptr;
  }

  // Adds the conversions of a value, which `maker` computes in its layout. Without a maker, the
  // value is by channel.
  void add_value(mlir::Value value, std::optional<NodeIndex> maker) {
    if (!seen_.insert(value).second) return;
    const Cost conversion =
        cost(conversion_seconds(mlir::cast<graph::TensorType>(value.getType())));
    const NodeIndex to_blocked = network_.add_node();
    network_.add_edge(to_blocked, maker.value_or(Network::kSink), conversion);
    std::optional<NodeIndex> to_plain;
    if (maker) {
      to_plain = network_.add_node();
      network_.add_edge(*maker, *to_plain, conversion);
    }
    for (mlir::Operation* user : value.getUsers()) {
      const auto found = nodes_.find(user);
      const bool is_image =
          found != nodes_.end() && llvm::is_contained(found->second.candidate.images, value);
      if (is_image && !found->second.candidate.reads_plain)
        network_.add_edge(found->second.index, to_blocked, kNever);
      if (to_plain)
        network_.add_edge(*to_plain, is_image ? found->second.index : Network::kSink, kNever);
    }
  }

  Network network_;
  llvm::MapVector<mlir::Operation*, Node> nodes_;
  llvm::DenseSet<mlir::Value> seen_;
};

}  // namespace

Report choose_layouts(mlir::ModuleOp module, const Machine& machine, ImageLayout layout,
                      bool fast_conv) {
  Report report;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal()) continue;
    if (llvm::none_of(machine.pools, [](const Pool& pool) { return pool.is_limited(); }))
      sink_transposes(function);
    if (layout != ImageLayout::kByChannel) {
      const std::vector<Candidate> blocked =
          Chooser(function, machine, layout, fast_conv).choose(report);
      if (!blocked.empty()) apply(function, blocked, report);
    }
    expand_transposed(function, machine);
  }
  return report;
}

}  // namespace scopevm::compiler::layouts
