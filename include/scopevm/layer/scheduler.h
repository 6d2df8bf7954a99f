// The functions of Scheduler (scopevm/scheduler.h), by those of scopevm/c/scheduler.h.
#pragma once

#include <algorithm>
#include <vector>

#include "scopevm/layer/status.h"
#include "scopevm/scheduler.h"

namespace scopevm {

inline Result<std::vector<int>> cpus_of_numa_node(int node) {
  return layer::guarded([&]() -> Result<std::vector<int>> {
    size_t count = 0;
    SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_numa_node_cpus(node, nullptr, 0, &count)));
    std::vector<int> cpus(count);
    SCOPEVM_RETURN_IF_ERROR(
        layer::take(scopevm_numa_node_cpus(node, cpus.data(), cpus.size(), &count)));
    return cpus;
  });
}

inline Result<Scheduler> Scheduler::create(SchedulerOptions options) {
  return layer::guarded([&]() -> Result<Scheduler> {
    std::vector<scopevm_pool_capacity> capacities;
    for (const PoolCapacity& capacity : options.capacities)
      capacities.push_back({capacity.pool.c_str(), capacity.bytes});
    scopevm_scheduler_options c{};
    c.struct_size = sizeof c;
    c.workers = options.workers;
    c.capacities = capacities.data();
    c.capacity_count = capacities.size();
    c.capacity_size = sizeof(scopevm_pool_capacity);
    c.has_no_defaults = 1;
    c.cpus = options.cpus.data();
    c.cpu_count = options.cpus.size();
    c.spin_ns = options.spin.count();
    c.max_waiting = options.max_waiting;
    c.max_bypass = options.max_bypass;
    c.ageing_ns = options.ageing.count();
    c.max_suspended = options.max_suspended;
    scopevm_scheduler* handle = nullptr;
    SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_scheduler_create(&c, &handle)));
    return adopt(handle);
  });
}

inline Result<SchedulerStats> Scheduler::stats() const {
  return layer::guarded([&]() -> Result<SchedulerStats> {
    scopevm_scheduler_stats c{};
    c.struct_size = sizeof c;
    SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_scheduler_read_stats(c_scheduler(), &c)));
    std::vector<scopevm_pool_use> pools(c.pool_count);  // their number is constant
    SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_scheduler_read_pools(
        c_scheduler(), &c, pools.data(), pools.size(), sizeof(scopevm_pool_use))));
    SchedulerStats stats{c.waiting, c.ready, c.running, {}};
    for (const scopevm_pool_use& use : pools)
      stats.pools.push_back({use.pool, use.capacity_bytes, use.reserved_bytes, use.held_bytes});
    return stats;
  });
}

inline int Scheduler::workers() const { return scopevm_scheduler_workers(c_scheduler()); }

}  // namespace scopevm
