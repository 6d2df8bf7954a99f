// Cuts between pairs of devices, then branch and bound; see the header.
#include "compiler/placement/assignment.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "compiler/placement/min_cut.h"

namespace scopevm::compiler::placement {
namespace {

constexpr size_t kMostSearched = 64;                // tasks; of more, no search would end
constexpr int64_t kLongestCopy = int64_t{1} << 40;  // picoseconds: about a second

int64_t copy_cost(const Machine& machine, int from, int to, const Flow& flow) {
  const double picoseconds = machine.copy_seconds(from, to, flow.bytes) * flow.times * 1e12;
  return static_cast<int64_t>(std::min(std::ceil(picoseconds), double{kLongestCopy}));
}

// Of its own accord: what goes to a stack, the memory stage decides.
// What nobody asks to lie in a pool lies there only if the value alone is within its limit.
bool may_hold(const Pool& pool, const Flow& flow) {
  return pool.kind != PoolKind::kConstant && pool.kind != PoolKind::kStack &&
         (pool.limit < 0 || flow.bytes <= static_cast<double>(pool.limit));
}

// What the readers of a flow ask for, each once.
struct Demands {
  std::vector<int> pools;
  std::vector<int> devices;  // readers that take any pool in reach
};

Demands demands_of(const Machine& machine, const Flow& flow, const std::vector<int>& devices) {
  Demands demands;
  for (const Reader& reader : flow.readers) {
    const int device = devices[reader.task];
    if (device == kAny) continue;
    if (reader.pool == kAny)
      demands.devices.push_back(device);
    else
      demands.pools.push_back(pool_at(machine, device, reader.pool));
  }
  for (std::vector<int>* list : {&demands.pools, &demands.devices}) {
    std::ranges::sort(*list);
    list->erase(std::ranges::unique(*list).begin(), list->end());
  }
  return demands;
}

// Copies from one home: to each pool that is asked for, and to the cheapest set of pools in which
// the other devices find the value.
class RouteFinder {
 public:
  RouteFinder(const Machine& machine, const Flow& flow, const Demands& demands, int home)
      : machine_(machine), flow_(flow), demands_(demands), route_{.home = home} {}

  Route run() {
    for (int pool : demands_.pools)
      if (pool != route_.home && !has(pool)) add(pool);
    serve(0);
    std::ranges::sort(best_->copies);
    return *std::move(best_);
  }

 private:
  bool has(int pool) const { return std::ranges::find(route_.copies, pool) != route_.copies.end(); }
  // Ways by the host share the copy there, with each other and with its own readers.
  void add(int pool) {
    int from = route_.home;
    if (machine_.is_by_host(from, pool)) {
      from = machine_.global_pool(machine_.host_device());
      if (!has(from)) add(from);
    }
    route_.copies.push_back(pool);
    route_.cost += copy_cost(machine_, from, pool, flow_);
  }

  void serve(size_t next) {
    if (best_ && route_.cost >= best_->cost) return;
    if (next == demands_.devices.size()) {
      best_ = route_;
      return;
    }
    const int device = demands_.devices[next];
    auto is_reached = [&](int pool) { return machine_.reaches(device, pool); };
    if (is_reached(route_.home) || std::ranges::any_of(route_.copies, is_reached))
      return serve(next + 1);
    for (int pool = 0; pool < static_cast<int>(machine_.pools.size()); ++pool) {
      // A device's own memory is always a way.
      if (!is_reached(pool) ||
          (pool != machine_.global_pool(device) && !may_hold(machine_.pools[pool], flow_)))
        continue;
      const size_t copies = route_.copies.size();
      const int64_t cost = route_.cost;
      add(pool);
      serve(next + 1);
      route_.copies.resize(copies);
      route_.cost = cost;
    }
  }

  const Machine& machine_;
  const Flow& flow_;
  const Demands& demands_;
  Route route_;
  std::optional<Route> best_;
};

// Pools that a value may lie in: the maker's own memory first, so that it wins where none is
// better; none on a device that lacks the scope. They do not depend on where readers are: then what
// is decided bounds a flow's cost from below.
std::vector<int> homes_of(const Machine& machine, const Flow& flow, int maker) {
  if (flow.pool < kOwn && !machine.find_pool(maker, scope_of(machine, flow.pool))) return {};
  if (flow.pool != kAny) return {pool_at(machine, maker, flow.pool)};
  std::vector<int> homes = {machine.global_pool(maker)};
  for (const Reader& reader : flow.readers) {
    if (reader.pool == kAny || reader.pool == kOwn) continue;
    const std::optional<int> pool =
        reader.pool >= 0 ? reader.pool : machine.find_pool(maker, scope_of(machine, reader.pool));
    if (pool && machine.reaches(maker, *pool)) homes.push_back(*pool);
  }
  for (size_t pool = 0; pool < machine.pools.size(); ++pool)
    if (machine.pools[pool].reached.size() > 1 && may_hold(machine.pools[pool], flow) &&
        machine.reaches(maker, static_cast<int>(pool)))
      homes.push_back(static_cast<int>(pool));
  return homes;
}

Cost displaced(const Task& task, int device) { return {0, device != task.preferred ? 1 : 0}; }

class Solver {
 public:
  Solver(const Problem& problem, int64_t nodes)
      : problem_(problem), machine_(*problem.machine), nodes_left_(nodes) {
    for (const Task& task : problem.tasks) {
      const auto& choices = task.devices;
      bool has_preferred = std::ranges::find(choices, task.preferred) != choices.end();
      best_.push_back(has_preferred ? task.preferred : choices.front());
    }
    for (size_t i = 0; i < problem.tasks.size(); ++i)
      if (problem.tasks[i].devices.size() > 1) open_.push_back(static_cast<int>(i));
    flows_of_.resize(problem.tasks.size());
    for (size_t f = 0; f < problem.flows.size(); ++f) {
      if (problem.flows[f].is_free) continue;
      flows_of_[problem.flows[f].maker].push_back(static_cast<int>(f));
      for (const Reader& reader : problem.flows[f].readers)
        flows_of_[reader.task].push_back(static_cast<int>(f));
    }
    for (std::vector<int>& flows : flows_of_) {
      std::ranges::sort(flows);
      flows.erase(std::ranges::unique(flows).begin(), flows.end());
    }
  }

  Assignment run() {
    best_cost_ = cost_of(problem_, best_);
    if (open_.empty()) return {best_, best_cost_, true};
    while (improve_by_cuts() || improve_one_by_one()) {
    }
    if (is_exact_cut()) return {best_, best_cost_, true};
    if (open_.size() > kMostSearched) return {best_, best_cost_, false};
    std::vector<int> devices = best_;
    for (int task : open_) devices[task] = kAny;
    search(0, devices, cost_of(problem_, devices));
    return {best_, best_cost_, nodes_left_ > 0};
  }

 private:
  // One cut decides everything: two devices, and costs that depend on nothing but them.
  bool is_exact_cut() const {
    if (machine_.devices.size() != 2) return false;
    for (const Pool& pool : machine_.pools)
      if (pool.reached.size() > 1) return false;
    for (const Flow& flow : problem_.flows) {
      if (flow.is_free) continue;
      if (flow.pool >= 0 || flow.pool < kOwn) return false;
      for (const Reader& reader : flow.readers)
        if (reader.pool >= 0 || reader.pool < kOwn) return false;
    }
    return true;
  }

  bool improve_by_cuts() {
    bool has_improved = false;
    for (size_t a = 0; a < machine_.devices.size(); ++a)
      for (size_t b = a + 1; b < machine_.devices.size(); ++b) {
        // The default device is the source: ties leave as much there as can be.
        int near = static_cast<int>(a), far = static_cast<int>(b);
        if (far == machine_.default_device) std::swap(near, far);
        has_improved = take(cut_between(near, far)) || has_improved;
      }
    return has_improved;
  }

  bool take(const std::vector<int>& devices) {
    Cost cost = cost_of(problem_, devices);
    if (cost >= best_cost_) return false;
    best_ = devices;
    best_cost_ = cost;
    return true;
  }

  bool may_be(int task, int device) const {
    const auto& choices = problem_.tasks[task].devices;
    return std::ranges::find(choices, device) != choices.end();
  }

  // The best assignment in which tasks that are on either of two devices now may change to the
  // other. Readers that ask for a pool are taken for readers of its device.
  std::vector<int> cut_between(int near, int far) {
    Network network;
    std::vector<int> nodes(problem_.tasks.size(), kAny);
    for (int task : open_) {
      if (best_[task] != near && best_[task] != far) continue;
      if (!may_be(task, near) || !may_be(task, far)) continue;
      nodes[task] = network.add_node();
      network.add_edge(Network::kSource, nodes[task], displaced(problem_.tasks[task], far));
      network.add_edge(nodes[task], Network::kSink, displaced(problem_.tasks[task], near));
    }
    auto node_of = [&](int task) {
      if (nodes[task] != kAny) return nodes[task];
      if (best_[task] == near) return Network::kSource;
      return best_[task] == far ? Network::kSink : kAny;
    };
    for (const Flow& flow : problem_.flows)
      if (!flow.is_free) add_flow(network, flow, near, far, node_of);
    const std::vector<bool> is_far = network.cut();
    std::vector<int> devices = best_;
    for (int task : open_)
      if (nodes[task] != kAny) devices[task] = is_far[nodes[task]] ? far : near;
    return devices;
  }

  template <class NodeOf>
  void add_flow(Network& network, const Flow& flow, int near, int far, const NodeOf& node_of) {
    constexpr Cost kNoLimit{INT64_MAX / 4, 0};
    const int maker = node_of(flow.maker);
    // A copy to the other device as soon as one reader is there; a maker elsewhere pays for either.
    const int from_near = maker == kAny ? best_[flow.maker] : near;
    const int from_far = maker == kAny ? best_[flow.maker] : far;
    const int at_far = network.add_node(), at_near = network.add_node();
    network.add_edge(maker == kAny ? Network::kSource : maker, at_far,
                     pair_cost(flow, from_near, far));
    network.add_edge(at_near, maker == kAny ? Network::kSink : maker,
                     pair_cost(flow, from_far, near));
    std::set<int> elsewhere;
    for (const Reader& reader : flow.readers) {
      const int node = node_of(reader.task);
      if (node == kAny) {
        elsewhere.insert(best_[reader.task]);
      } else {
        network.add_edge(at_far, node, kNoLimit);
        network.add_edge(node, at_near, kNoLimit);
      }
    }
    if (maker == kAny) return;
    // Where the maker goes decides what the copies to other devices cost.
    for (int device : elsewhere) {
      network.add_edge(maker, Network::kSink, pair_cost(flow, near, device));
      network.add_edge(Network::kSource, maker, pair_cost(flow, far, device));
    }
  }

  // Of one copy between two devices, with any pools.
  Cost pair_cost(const Flow& flow, int from, int to) const {
    if (from == to) return {};
    Route best;
    bool is_first = true;
    const Demands demands{{}, {to}};
    for (int home : homes_of(machine_, flow, from)) {
      Route route = RouteFinder(machine_, flow, demands, home).run();
      if (is_first || route.cost < best.cost) best = route;
      is_first = false;
    }
    return {best.cost, 0};
  }

  bool improve_one_by_one() {
    bool has_improved = false;
    for (int task : open_)
      for (int device : problem_.tasks[task].devices) {
        if (device == best_[task]) continue;
        const Cost before = local_cost(task, best_);
        const int kept = best_[task];
        best_[task] = device;
        const Cost after = local_cost(task, best_);
        if (after < before) {
          best_cost_ = best_cost_ + after - before;
          has_improved = true;
        } else {
          best_[task] = kept;
        }
      }
    return has_improved;
  }

  Cost local_cost(int task, const std::vector<int>& devices) const {
    Cost cost = devices[task] == kAny ? Cost{} : displaced(problem_.tasks[task], devices[task]);
    for (int flow : flows_of_[task])
      cost.copies += route_of(problem_, problem_.flows[flow], devices).cost *
                     (problem_.flows[flow].is_free ? 0 : 1);
    return cost;
  }

  // Depth first, in the order of tasks. More readers never make a flow cheaper, so what is decided
  // bounds the whole from below.
  void search(size_t depth, std::vector<int>& devices, Cost cost) {
    if (nodes_left_-- <= 0 || cost >= best_cost_) return;
    if (depth == open_.size()) {
      best_ = devices;
      best_cost_ = cost;
      return;
    }
    const int task = open_[depth];
    const Cost without = local_cost(task, devices);
    for (int device : problem_.tasks[task].devices) {
      devices[task] = device;
      search(depth + 1, devices, cost - without + local_cost(task, devices));
    }
    devices[task] = kAny;
  }

  const Problem& problem_;
  const Machine& machine_;
  int64_t nodes_left_;
  std::vector<int> open_;                   // tasks with a choice
  std::vector<std::vector<int>> flows_of_;  // by task
  std::vector<int> best_;
  Cost best_cost_;
};

}  // namespace

// One that has the scope stands for it.
int own_scope(const Machine& machine, std::string_view scope) {
  if (scope == "global") return kOwn;
  const auto named = std::ranges::find(machine.pools, scope, &Pool::scope);
  return kOwn - 1 - static_cast<int>(named - machine.pools.begin());
}

std::string_view scope_of(const Machine& machine, int pool) {
  if (pool == kOwn) return "global";
  return machine.pools[pool >= 0 ? pool : kOwn - 1 - pool].scope;
}

int pool_at(const Machine& machine, int device, int pool) {
  return pool >= 0 ? pool : *machine.find_pool(device, scope_of(machine, pool));
}

Route route_of(const Problem& problem, const Flow& flow, const std::vector<int>& devices) {
  const int maker = devices[flow.maker];
  if (maker == kAny) return {};
  const Demands demands = demands_of(*problem.machine, flow, devices);
  std::optional<Route> best;
  for (int home : homes_of(*problem.machine, flow, maker)) {
    Route route = RouteFinder(*problem.machine, flow, demands, home).run();
    if (!best || route.cost < best->cost) best = std::move(route);
  }
  return *best;
}

Cost cost_of(const Problem& problem, const std::vector<int>& devices) {
  Cost cost;
  for (const Flow& flow : problem.flows)
    if (!flow.is_free) cost.copies += route_of(problem, flow, devices).cost;
  for (size_t i = 0; i < devices.size(); ++i)
    if (devices[i] != kAny) cost = cost + displaced(problem.tasks[i], devices[i]);
  return cost;
}

Assignment assign(const Problem& problem, int64_t nodes) { return Solver(problem, nodes).run(); }

}  // namespace scopevm::compiler::placement
