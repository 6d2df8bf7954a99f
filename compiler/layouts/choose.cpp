// Chooses the layout of each op by a minimum cut, in which the source is the blocked layout and the
// sink the layout by channel. An op is an edge to both, with the times in each layout. A value
// whose users have another layout is converted once.
#include "compiler/layouts/layouts.h"

#include "compiler/graph/diagnostics/dim_trace.h"
#include "compiler/layouts/apply.h"
#include "compiler/layouts/candidate.h"
#include "compiler/layouts/forms.h"
#include "compiler/layouts/models/image.h"
#include "compiler/layouts/sink_transposes.h"
#include "compiler/placement/solve/min_cut.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "vm/format/schema/entry_name.h"

namespace scopevm::compiler::layouts {
namespace {

using placement::Cost;
using placement::Network;
using placement::NodeIndex;
using schedule::LayoutTimes;

Cost cost(double seconds) {
  constexpr double kPicoseconds = 1e12, kMost = 1e6;
  return {static_cast<int64_t>(std::min(seconds, kMost) * kPicoseconds), 0};
}

class Chooser {
 public:
  Chooser(mlir::func::FuncOp function, const Machine& machine, const Options& options)
      : options_(options), is_main_(function.getName() == format::kEntryName) {
    function.walk([&](mlir::Operation* op) {
      if (std::optional<Candidate> found = candidate(op, machine, options))
        nodes_[op] = node_of(*std::move(found));
    });
    for (auto& [op, node] : nodes_) {
      const LayoutTimes times = node.times;
      // Equal times: by channel. An op without a choice reads blocked images where there are any.
      const int64_t is_free = node.has_choice() ? 0 : 1;
      network_.add_edge(Network::kSource, node.index,
                        options.layout == ImageLayout::kBlocked
                            ? Network::kNever
                            : cost(times.by_channel) + Cost{is_free, 0});
      network_.add_edge(node.index, Network::kSink, cost(times.blocked) + Cost{1 - is_free, 0});
      if (node.candidate.form.has_blocked_result) add_value(op->getResult(0), node.index);
      for (mlir::Value image : node.candidate.form.images)
        if (const Node* producer = producer_of(image))
          add_epilogue(*producer, op, node);
        else
          add_value(image, std::nullopt);
    }
  }

  // The candidates that become blocked, in program order.
  std::vector<Candidate> choose(Report& report) {
    const auto is_plain = network_.cut();
    std::vector<Candidate> blocked;
    for (auto& [op, node] : nodes_) {
      const LayoutTimes times = node.times;
      const bool is_blocked = !is_plain[node.index];
      if (is_blocked) blocked.push_back(node.candidate);
      if (!node.has_choice()) continue;
      report.ops.push_back({.name = graph::DimTrace::name(op->getResult(0)),
                            .kind = op->getName().stripDialect().str(),
                            .is_blocked = is_blocked,
                            .seconds = is_blocked ? times.blocked : times.by_channel,
                            .other_seconds = is_blocked ? times.by_channel : times.blocked,
                            .is_measured = node.is_measured,
                            .forms = node.forms,
                            .schedule = is_blocked ? node.candidate.op.getScheduleText(
                                                         node.candidate.form, *options_.core)
                                                   : std::string()});
    }
    return blocked;
  }

  // The time of a conversion of the image in all requests.
  double seconds_of(graph::TensorType image) const {
    return of_requests(
        [&](const DimValues& known) { return conversion_seconds(image, *options_.core, known); });
  }

 private:
  struct Node {
    NodeIndex index;
    Candidate candidate;
    LayoutTimes times;
    bool is_measured = false;
    std::vector<MeasuredForm> forms;  // Report::Op::forms

    // False for an op that reads both layouts and takes no time in either.
    bool has_choice() const {
      return !candidate.form.reads_plain || times.by_channel != 0 || times.blocked != 0;
    }
  };

  // The sum over the requests.
  template <typename Seconds>
  std::invoke_result_t<Seconds, DimValues> of_requests(Seconds seconds) const {
    if (options_.requests.empty() || !is_main_) return seconds(DimValues());
    std::invoke_result_t<Seconds, DimValues> sum = {};
    for (const DimValues& request : options_.requests) sum = sum + seconds(request);
    return sum;
  }

  Node node_of(Candidate candidate) {
    Node node{.index = network_.add_node(), .candidate = std::move(candidate)};
    const std::optional<std::string> id = id_of(node.candidate, *options_.core);
    const auto found = id && is_main_ ? options_.measured.find(*id) : options_.measured.end();
    if (found == options_.measured.end()) {
      node.times = of_requests([&](const DimValues& known) {
        return node.candidate.op.getTimes(node.candidate.form, *options_.core, known);
      });
      return node;
    }
    const Measured& measured = found->second;
    node.is_measured = true;
    node.candidate.form.schedule = measured.form;
    node.times = {.by_channel = measured.plain, .blocked = measured.blocked[measured.form]};
    node.forms = forms_of(node.candidate.form, measured);
    return node;
  }

  static std::vector<MeasuredForm> forms_of(const BlockedForm& form, const Measured& measured) {
    std::vector<MeasuredForm> forms;
    for (size_t i = 0; i < form.schedules.size() && form.schedules.size() > 1; ++i)
      forms.push_back({form.schedules[i].text(), measured.blocked[i], i == measured.form});
    return forms;
  }

  // The candidate whose blocked form computes the value in blocked form.
  const Node* producer_of(mlir::Value value) const {
    const auto found = value.getDefiningOp() ? nodes_.find(value.getDefiningOp()) : nodes_.end();
    const bool is_found = found != nodes_.end() && found->second.candidate.form.has_blocked_result;
    return is_found ? &found->second : nullptr;
  }

  // An elementwise op in the layout of the convolution before it is computed with it. Otherwise, it
  // reads and writes the image once more.
  void add_epilogue(const Node& producer, mlir::Operation* op, const Node& node) {
    if (!producer.candidate.is_convolution() || !mlir::isa<graph::ElementwiseOp>(op) ||
        !producer.candidate.op->hasOneUse())
      return;
    network_.add_edge(producer.index, node.index, cost(node.times.by_channel));
    network_.add_edge(node.index, producer.index, cost(node.times.by_channel));
  }

  // Adds the conversions of a value, which `producer` computes in its layout. Without a producer,
  // the value is by channel.
  void add_value(mlir::Value value, std::optional<NodeIndex> producer) {
    if (!seen_.insert(value).second) return;
    const Cost conversion = cost(seconds_of(mlir::cast<graph::TensorType>(value.getType())));
    const NodeIndex to_blocked = network_.add_node();
    network_.add_edge(to_blocked, producer.value_or(Network::kSink), conversion);
    std::optional<NodeIndex> to_plain;
    if (producer) {
      to_plain = network_.add_node();
      network_.add_edge(*producer, *to_plain, conversion);
    }
    for (mlir::Operation* user : value.getUsers()) {
      const auto found = nodes_.find(user);
      const bool is_image =
          found != nodes_.end() && llvm::is_contained(found->second.candidate.form.images, value);
      if (is_image && !found->second.candidate.form.reads_plain)
        network_.add_edge(found->second.index, to_blocked, Network::kNever);
      if (to_plain)
        network_.add_edge(*to_plain, is_image ? found->second.index : Network::kSink,
                          Network::kNever);
    }
  }

  const Options& options_;
  const bool is_main_;
  Network network_;
  llvm::MapVector<mlir::Operation*, Node> nodes_;
  llvm::DenseSet<mlir::Value> seen_;
};

// Replaces ops by channel that have faster kernels in another form.
void expand_by_channel(mlir::func::FuncOp function, const Machine& machine, bool may_be_blocked) {
  llvm::SmallVector<ImageOp> found;
  function.walk([&](ImageOp op) {
    if (may_grow(op, machine)) found.push_back(op);
  });
  for (ImageOp op : found) op.expandByChannel(may_be_blocked);
}

}  // namespace

Report choose_layouts(mlir::ModuleOp module, const Machine& machine, const Options& options) {
  Report report;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal()) continue;
    if (llvm::none_of(machine.pools, [](const Pool& pool) { return pool.is_limited(); }))
      sink_transposes(function);
    if (options.layout != ImageLayout::kByChannel) {
      expand_by_channel(function, machine, /*may_be_blocked=*/true);
      Chooser chooser(function, machine, options);
      const std::vector<Candidate> blocked = chooser.choose(report);
      const auto seconds = [&](graph::TensorType image) { return chooser.seconds_of(image); };
      if (!blocked.empty()) apply(function, blocked, seconds, report);
    }
    expand_by_channel(function, machine, /*may_be_blocked=*/false);
  }
  return report;
}

}  // namespace scopevm::compiler::layouts
