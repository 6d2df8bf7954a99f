// Minimum cuts between pairs of devices, then branch and bound; see the header.
#include "compiler/placement/solve/assignment.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>

#include "compiler/placement/solve/costs.h"
#include "compiler/placement/solve/fewer_pools.h"
#include "compiler/placement/solve/min_cut.h"
#include "compiler/placement/solve/sort_unique.h"

namespace scopevm::compiler::placement {
namespace {

constexpr size_t kMostOpenTasks = 64;  // limit for branch and bound

// Local search from the preferred devices; then branch and bound, if the result is not proved
// optimal and few tasks are open.
class Solver {
 public:
  Solver(const Problem& problem, int64_t nodes)
      : problem_(problem), machine_(*problem.machine), costs_(problem), nodes_left_(nodes) {
    for (const Task& task : problem.tasks) {
      const auto& choices = task.devices;
      bool has_preferred = std::ranges::find(choices, task.preferred) != choices.end();
      best_.push_back(has_preferred ? task.preferred : choices.front());
    }
    for (TaskIndex task : problem.tasks.indices())
      if (problem.tasks[task].devices.size() > 1) open_.push_back(task);
  }

  Assignment run() {
    best_cost_ = costs_.of(best_);
    if (open_.empty()) return {best_, best_cost_, true};
    while (improve_by_cuts() || improve_one_by_one()) {
    }
    // Without this check, a two-device graph with more than kMostOpenTasks open tasks would be
    // optimal but reported as unproved.
    if (is_exact_cut()) return {best_, best_cost_, true};
    if (open_.size() > kMostOpenTasks) return {best_, best_cost_, false};
    Devices devices = best_;
    for (TaskIndex task : open_) devices[task].reset();
    // best_ holds the local optimum, whose cost prunes the search from its first node.
    search(0, devices, costs_.of(devices));
    return {best_, best_cost_, nodes_left_ > 0};
  }

 private:
  // Whether one cut solves the problem exactly: there are two devices, and the costs depend only on
  // the tasks' devices, because each value and copy is stored in the global pool of its device.
  bool is_exact_cut() const {
    if (machine_.devices.size() != 2) return false;
    for (const Pool& pool : machine_.pools)
      if (pool.reached.size() > 1) return false;
    for (const Flow& flow : problem_.flows) {
      if (flow.is_free) continue;
      if (!flow.pool.is_default() || !costs_.prefers_global_pools(flow)) return false;
      for (const Reader& reader : flow.readers)
        if (!reader.pool.is_default()) return false;
    }
    return true;
  }

  // The devices that run open tasks.
  IndexedVector<DeviceIndex, bool> devices_in_use() const {
    IndexedVector<DeviceIndex, bool> in_use;
    in_use.resize(machine_.devices.size());
    for (TaskIndex task : open_) in_use[*best_[task]] = true;
    return in_use;
  }

  bool improve_by_cuts() {
    bool has_improved = false;
    IndexedVector<DeviceIndex, bool> in_use = devices_in_use();
    for (DeviceIndex a : machine_.devices.indices())
      for (DeviceIndex b : machine_.devices.indices()) {
        // A cut between two unused devices moves no task. Most devices of a large machine are
        // unused.
        if (a >= b || (!in_use[a] && !in_use[b])) continue;
        // The default device is the source: ties keep as many tasks there as possible.
        // cut() returns the largest source side of all minimum cuts.
        const bool is_reversed = b == machine_.default_device;
        if (!take(is_reversed ? cut_between(b, a) : cut_between(a, b))) continue;
        has_improved = true;
        in_use = devices_in_use();
      }
    return has_improved;
  }

  bool take(const Devices& devices) {
    if (std::ranges::equal(devices, best_)) return false;
    Cost cost = costs_.of(devices);
    // The network only approximates the cost if pools are shared or required, so the cut is
    // evaluated exactly before it is accepted. A strict improvement each time makes the alternation
    // terminate.
    if (cost >= best_cost_) return false;
    best_ = devices;
    best_cost_ = cost;
    return true;
  }

  bool may_be(TaskIndex task, DeviceIndex device) const {
    const auto& choices = problem_.tasks[task].devices;
    return std::ranges::find(choices, device) != choices.end();
  }

  // A swap move: the best assignment in which tasks that are now on either of the two devices may
  // change to the other. Required pools are ignored: a reader's device determines its copy.
  Devices cut_between(DeviceIndex near, DeviceIndex far) {
    Network network;
    IndexedVector<TaskIndex, std::optional<NodeIndex>> nodes(problem_.tasks.size());
    for (TaskIndex task : open_) {
      if (best_[task] != near && best_[task] != far) continue;
      if (!may_be(task, near) || !may_be(task, far)) continue;
      nodes[task] = network.add_node();
      // A node on the sink side cuts its edge from the source: that edge has the cost of being on
      // `far`.
      network.add_edge(Network::kSource, *nodes[task], alone(task, far));
      network.add_edge(*nodes[task], Network::kSink, alone(task, near));
    }
    auto node_of = [&](TaskIndex task) -> std::optional<NodeIndex> {
      if (nodes[task]) return nodes[task];
      if (best_[task] == near) return Network::kSource;
      return best_[task] == far ? std::optional(Network::kSink) : std::nullopt;
    };
    // All other flows cost the same on both sides.
    std::vector<FlowIndex> flows;
    for (TaskIndex task : open_)
      if (nodes[task]) {
        const std::vector<FlowIndex>& of = costs_.flows_of(task);
        flows.insert(flows.end(), of.begin(), of.end());
      }
    sort_unique(flows);
    for (FlowIndex flow : flows) add_flow(network, problem_.flows[flow], near, far, node_of);
    const IndexedVector<NodeIndex, bool> is_far = network.cut();
    Devices devices = best_;
    for (TaskIndex task : open_)
      if (nodes[task]) devices[task] = is_far[*nodes[task]] ? far : near;
    return devices;
  }

  template <class NodeOf>
  void add_flow(Network& network, const Flow& flow, DeviceIndex near, DeviceIndex far,
                const NodeOf& node_of) {
    // Above every practical sum of copy costs, and small enough that a few of them can be added.
    constexpr Cost kNoLimit{INT64_MAX / 4, 0};
    const std::optional<NodeIndex> maker = node_of(flow.maker);
    // A value whose copy is shared by all readers is a hyperedge, which two auxiliary nodes model.
    // The cost of one copy counts if any reader is on the other device. If the maker is on a third
    // device, each of the two devices that has a reader needs a copy.
    const DeviceIndex from_near = maker ? near : *best_[flow.maker];
    const DeviceIndex from_far = maker ? far : *best_[flow.maker];
    const NodeIndex at_far = network.add_node(), at_near = network.add_node();
    network.add_edge(maker.value_or(Network::kSource), at_far, pair_cost(flow, from_near, far));
    network.add_edge(at_near, maker.value_or(Network::kSink), pair_cost(flow, from_far, near));
    std::set<DeviceIndex> elsewhere;
    for (const Reader& reader : flow.readers) {
      if (std::optional<NodeIndex> node = node_of(reader.task)) {
        // A minimum cut contains no unlimited edge. A reader on the sink side therefore forces
        // at_far to the sink side, and a reader on the source side forces at_near to the source
        // side.
        network.add_edge(at_far, *node, kNoLimit);
        network.add_edge(*node, at_near, kNoLimit);
      } else {
        elsewhere.insert(*best_[reader.task]);
      }
    }
    if (!maker) return;
    // The cost of copies to third devices depends on the maker's device.
    for (DeviceIndex device : elsewhere) {
      network.add_edge(*maker, Network::kSink, pair_cost(flow, near, device));
      network.add_edge(Network::kSource, *maker, pair_cost(flow, far, device));
    }
  }

  // The costs that depend only on the device of the task, if each value is stored in the global
  // pool of its device.
  Cost alone(TaskIndex task, DeviceIndex device) const {
    return costs_.alone(task, device) + Cost{costs_.accesses(task, device), 0};
  }

  // The additional cost if a flow crosses between two devices.
  Cost pair_cost(const Flow& flow, DeviceIndex from, DeviceIndex to) const {
    return {costs_.between(flow, from, to), 0};
  }

  // Coordinate descent: moves single tasks while that reduces the cost. These costs are exact,
  // whereas cuts approximate them by the costs of single copies.
  bool improve_one_by_one() {
    bool has_improved = false;
    for (TaskIndex task : open_)
      for (DeviceIndex device : problem_.tasks[task].devices) {
        if (device == best_[task]) continue;
        const Cost before = costs_.of_task(task, best_);
        const std::optional<DeviceIndex> kept = best_[task];
        best_[task] = device;
        const Cost after = costs_.of_task(task, best_);
        if (after < before) {
          best_cost_ = best_cost_ + after - before;
          has_improved = true;
        } else {
          best_[task] = kept;
        }
      }
    return has_improved;
  }

  // Branch and bound, depth first, in the order of tasks. `cost` is Costs::of(devices), a lower
  // bound of the total.
  void search(size_t depth, Devices& devices, Cost cost) {
    if (nodes_left_-- <= 0 || cost >= best_cost_) return;
    if (depth == open_.size()) {
      best_ = devices;
      best_cost_ = cost;
      return;
    }
    const TaskIndex task = open_[depth];
    const Cost without = costs_.of_task(task, devices);
    for (DeviceIndex device : problem_.tasks[task].devices) {
      devices[task] = device;
      search(depth + 1, devices, cost - without + costs_.of_task(task, devices));
    }
    devices[task].reset();
  }

  const Problem& problem_;
  const Machine& machine_;
  const Costs costs_;
  int64_t nodes_left_;
  std::vector<TaskIndex> open_;  // tasks with several permitted devices
  Devices best_;                 // every task has a device
  Cost best_cost_;
};

}  // namespace

Cost cost_of(const Problem& problem, const Devices& devices) { return Costs(problem).of(devices); }

Assignment assign(const Problem& problem, int64_t nodes) {
  Assignment best = Solver(problem, nodes).run();
  if (best.is_proved) return best;
  for (const Machine& machine : with_fewer_pools(*problem.machine) | std::views::drop(1)) {
    Problem with_fewer = problem;
    with_fewer.machine = &machine;
    Devices devices = Solver(with_fewer, nodes).run().devices;
    // With all pools, copies cost the same or less.
    if (const Cost cost = cost_of(problem, devices); cost < best.cost)
      best = {std::move(devices), cost, false};
  }
  return best;
}

}  // namespace scopevm::compiler::placement
