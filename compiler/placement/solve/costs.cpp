// Sums copies and accesses of assigned tasks, and the least accesses of the others; see costs.h.
#include "compiler/placement/solve/costs.h"

#include <algorithm>
#include <limits>
#include <set>

#include "compiler/placement/solve/sort_unique.h"

namespace scopevm::compiler::placement {

Costs::Costs(const Problem& problem)
    : problem_(problem), machine_(*problem.machine), reached_(machine_) {
  constant_pools_.resize(machine_.devices.size());
  for (PoolIndex pool : machine_.pools.indices())
    if (machine_.pools[pool].scope == "global.constant")
      constant_pools_[machine_.pools[pool].device] = pool;
  flows_of_.resize(problem.tasks.size());
  made_by_.resize(problem.tasks.size());
  read_by_.resize(problem.tasks.size());
  for (FlowIndex f : problem.flows.indices()) {
    const Flow& flow = problem.flows[f];
    for (size_t i = 0; i < flow.readers.size(); ++i)
      read_by_[flow.readers[i].task].push_back({f, i});
    least_.push_back(least_accesses(flow));
    if (flow.is_free) continue;
    made_by_[flow.maker].push_back(f);
    flows_of_[flow.maker].push_back(f);
    for (const Reader& reader : flow.readers) flows_of_[reader.task].push_back(f);
  }
  // A task can make and read one flow, or read it twice; its cost counts once.
  for (std::vector<FlowIndex>& flows : flows_of_) sort_unique(flows);
}

// In any pool that a permitted device reaches and that may store the value or a copy.
Costs::LeastAccesses Costs::least_accesses(const Flow& flow) const {
  LeastAccesses least;
  if (flow.is_free) return least;
  std::set<PoolIndex> required;
  const auto require = [&](const PoolRequirement& pool, TaskIndex task) {
    if (pool.is_any()) return;
    for (DeviceIndex device : problem_.tasks[task].devices)
      if (const std::optional<PoolIndex> on = pool.on(machine_, device)) required.insert(*on);
  };
  require(flow.pool, flow.maker);
  for (const Reader& reader : flow.readers) {
    require(reader.pool, flow.maker);
    require(reader.pool, reader.task);
  }
  const auto least_of = [&](TaskIndex task, auto cost) {
    int64_t best = std::numeric_limits<int64_t>::max();
    for (DeviceIndex device : problem_.tasks[task].devices)
      for (PoolIndex pool : reached_.of(device))
        if (pool == reached_.global_pool(device) || required.contains(pool) ||
            may_hold(problem_, pool, flow))
          best = std::min(best, cost(pool));
    return best;
  };
  least.write = least_of(
      flow.maker, [&](PoolIndex pool) { return write_cost(machine_, pool, flow, flow.writes); });
  for (const Reader& reader : flow.readers)
    least.reads.push_back(least_of(reader.task, [&](PoolIndex pool) {
      return read_cost(machine_, pool, flow, reader.reads);
    }));
  return least;
}

// Another reader never makes a route cheaper, so the route to the assigned readers and the least
// reads of the others are a lower bound.
int64_t Costs::of_flow(FlowIndex f, const Devices& devices) const {
  const Flow& flow = problem_.flows[f];
  const bool is_made = devices[flow.maker].has_value();
  int64_t cost = is_made ? find_route(problem_, reached_, flow, devices).cost : least_[f].write;
  for (size_t i = 0; i < flow.readers.size(); ++i)
    if (!is_made || !devices[flow.readers[i].task]) cost += least_[f].reads[i];
  return cost;
}

Cost Costs::alone(TaskIndex task, DeviceIndex device) const {
  Cost cost{0, device != problem_.tasks[task].preferred ? 1 : 0};
  for (FlowIndex f : made_by_[task])
    if (problem_.flows[f].is_input) cost.time += input_cost(machine_, problem_.flows[f], device);
  for (const Read& read : read_by_[task]) {
    const Flow& flow = problem_.flows[read.flow];
    const Reader& reader = flow.readers[read.reader];
    if (reader.is_result) cost.time += result_cost(machine_, flow, reader, device);
    if (!flow.is_free) continue;
    const PoolIndex pool =
        reader.pool.is_default() ? constant_pools_[device] : *reader.pool.on(machine_, device);
    cost.time += read_cost(machine_, pool, flow, reader.reads);
  }
  return cost;
}

Cost Costs::least_alone(TaskIndex task) const {
  Cost least{std::numeric_limits<int64_t>::max(), 0};
  for (DeviceIndex device : problem_.tasks[task].devices)
    least.time = std::min(least.time, alone(task, device).time);
  return least;
}

Cost Costs::of_task(TaskIndex task, const Devices& devices) const {
  Cost cost = devices[task] ? alone(task, *devices[task]) : least_alone(task);
  for (FlowIndex flow : flows_of_[task]) cost.time += of_flow(flow, devices);
  return cost;
}

Cost Costs::of(const Devices& devices) const {
  Cost cost;
  for (TaskIndex task : devices.indices())
    cost = cost + (devices[task] ? alone(task, *devices[task]) : least_alone(task));
  for (FlowIndex flow : problem_.flows.indices())
    if (!problem_.flows[flow].is_free) cost.time += of_flow(flow, devices);
  return cost;
}

PoolIndex Costs::default_pool(const PoolRequirement& required, DeviceIndex device) const {
  const std::optional<PoolIndex> pool =
      required.is_any() ? std::nullopt : required.on(machine_, device);
  return pool.value_or(reached_.global_pool(device));
}

int64_t Costs::accesses(TaskIndex task, DeviceIndex device) const {
  int64_t time = 0;
  for (FlowIndex f : made_by_[task]) {
    const Flow& flow = problem_.flows[f];
    time += write_cost(machine_, default_pool(flow.pool, device), flow, flow.writes);
  }
  for (const Read& read : read_by_[task]) {
    const Flow& flow = problem_.flows[read.flow];
    const Reader& reader = flow.readers[read.reader];
    if (!flow.is_free)
      time += read_cost(machine_, default_pool(reader.pool, device), flow, reader.reads);
  }
  return time;
}

int64_t Costs::between(const Flow& flow, DeviceIndex from, DeviceIndex to) const {
  if (from == to) return 0;
  ReaderRequirements reader;
  for (const Reader& each : flow.readers) reader.devices[to].push_back(each.reads);
  const std::optional<Route> best = cheapest_route(problem_, reached_, flow, from, reader);
  if (!best) return 0;
  int64_t time =
      best->cost - write_cost(machine_, default_pool(flow.pool, from), flow, flow.writes);
  for (double reads : reader.devices[to])
    time -= read_cost(machine_, reached_.global_pool(to), flow, reads);
  // A shared pool can be faster than the pools of both devices.
  return std::max<int64_t>(time, 0);
}

bool Costs::prefers_global_pools(const Flow& flow) const {
  for (DeviceIndex to : machine_.devices.indices()) {
    const PoolIndex global = reached_.global_pool(to);
    for (PoolIndex pool : reached_.of(to)) {
      if (pool == global || !may_hold(problem_, pool, flow)) continue;
      if (read_cost(machine_, pool, flow, 1) < read_cost(machine_, global, flow, 1)) return false;
      for (DeviceIndex from : machine_.devices.indices()) {
        const PoolIndex home = reached_.global_pool(from);
        if (from != to && machine_.copy_seconds(home, pool, flow.bytes) <
                              machine_.copy_seconds(home, global, flow.bytes))
          return false;
      }
    }
  }
  return true;
}

}  // namespace scopevm::compiler::placement
