// The functions of the C API for schedulers (scopevm/c/scheduler.h).
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/process/cpu_set.h"
#include "scopevm/scheduler.h"
#include "scopevm/scopevm.h"
#include "vm/api/c_support.h"

namespace scopevm {
namespace {

Result<SchedulerOptions> to_cpp(const scopevm_scheduler_options* given) {
  SCOPEVM_ASSIGN_OR_RETURN(
      const scopevm_scheduler_options c,
      read_options(given, SCOPEVM_SIZE_UP_TO(scopevm_scheduler_options, ageing_ns),
                   "scopevm_scheduler_options"));
  SchedulerOptions out;
  out.workers = c.workers;
  SCOPEVM_ASSIGN_OR_RETURN(
      const auto capacities,
      read_array(c.capacities, c.capacity_count, c.capacity_size,
                 SCOPEVM_SIZE_UP_TO(scopevm_pool_capacity, bytes), "capacity_size", "capacities"));
  for (const scopevm_pool_capacity& capacity : capacities) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view pool,
                             to_text(capacity.pool, "the pool of a capacity"));
    out.capacities.push_back({std::string(pool), capacity.bytes});
  }
  SCOPEVM_RETURN_IF_ERROR(check_array(c.cpus, c.cpu_count, "the array of CPUs"));
  out.cpus.assign(c.cpus, c.cpus + c.cpu_count);
  out.spin = std::chrono::nanoseconds(c.spin_ns);
  if (c.has_no_defaults != 0) {
    out.max_waiting = c.max_waiting;
    out.max_bypass = c.max_bypass;
    out.max_suspended = c.max_suspended;
    out.ageing = std::chrono::nanoseconds(c.ageing_ns);
    return out;
  }
  // 0 is the default of each of these members.
  if (c.max_waiting != 0) out.max_waiting = c.max_waiting;
  if (c.max_bypass != 0) out.max_bypass = std::max(c.max_bypass, 0);
  if (c.max_suspended != 0) out.max_suspended = c.max_suspended;
  if (c.ageing_ns != 0) out.ageing = std::chrono::nanoseconds(c.ageing_ns);
  return out;
}

}  // namespace
}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;

scopevm_status* scopevm_scheduler_create(const scopevm_scheduler_options* options,
                                         scopevm_scheduler** out) {
  return checked({{out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(scopevm::SchedulerOptions converted, scopevm::to_cpp(options));
    auto handle = std::make_unique<scopevm_scheduler>();
    SCOPEVM_ASSIGN_OR_RETURN(handle->scheduler,
                             scopevm::vm::CallScheduler::create(std::move(converted)));
    *out = handle.release();
    return {};
  });
}

scopevm_status* scopevm_numa_node_cpus(int node, int* cpus, size_t capacity, size_t* count) {
  return checked({{count, "count"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(cpus, capacity, "the array of CPUs"));
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<int> found, scopevm::runtime::cpus_of_node(node));
    std::copy_n(found.begin(), std::min(found.size(), capacity), cpus);
    *count = found.size();
    return {};
  });
}

void scopevm_scheduler_free(scopevm_scheduler* scheduler) { delete scheduler; }

namespace scopevm {
namespace {

Status check_stats(const scopevm_scheduler_stats& out) {
  return check_size(out.struct_size, SCOPEVM_SIZE_UP_TO(scopevm_scheduler_stats, running),
                    "struct_size of *out");
}

void fill_stats(const SchedulerStats& stats, scopevm_scheduler_stats* out) {
  fill_struct({0, stats.waiting, stats.ready, stats.running, stats.pools.size()}, out);
}

scopevm_pool_use pool_use(const vm::CallScheduler& scheduler, size_t index, const PoolUse& use) {
  return {0, use.capacity_bytes, use.reserved_bytes, use.held_bytes,
          scheduler.pool_name(index).c_str()};
}

}  // namespace
}  // namespace scopevm

scopevm_status* scopevm_scheduler_read_stats(const scopevm_scheduler* scheduler,
                                             scopevm_scheduler_stats* out) {
  return checked({{scheduler, "scheduler"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_stats(*out));
    scopevm::fill_stats(scheduler->scheduler->stats(), out);
    return {};
  });
}

scopevm_status* scopevm_scheduler_pool_use(const scopevm_scheduler* scheduler, size_t index,
                                           scopevm_pool_use* out) {
  return checked({{scheduler, "scheduler"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_size(
        out->struct_size, SCOPEVM_SIZE_UP_TO(scopevm_pool_use, held_bytes), "struct_size of *out"));
    const scopevm::SchedulerStats stats = scheduler->scheduler->stats();
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::PoolUse* use,
                             scopevm::element_at(stats.pools, index, "pool"));
    scopevm::fill_struct(scopevm::pool_use(*scheduler->scheduler, index, *use), out);
    return {};
  });
}

scopevm_status* scopevm_scheduler_read_pools(const scopevm_scheduler* scheduler,
                                             scopevm_scheduler_stats* out, scopevm_pool_use* pools,
                                             size_t capacity, size_t pool_size) {
  return checked({{scheduler, "scheduler"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_stats(*out));
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(pools, capacity, "pools"));
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_size(
        pool_size, SCOPEVM_SIZE_UP_TO(scopevm_pool_use, held_bytes), "pool_size"));
    const scopevm::SchedulerStats stats = scheduler->scheduler->stats();
    for (size_t i = 0; i < std::min(capacity, stats.pools.size()); ++i) {
      auto* const pool =
          reinterpret_cast<scopevm_pool_use*>(reinterpret_cast<char*>(pools) + i * pool_size);
      pool->struct_size = pool_size;
      scopevm::fill_struct(scopevm::pool_use(*scheduler->scheduler, i, stats.pools[i]), pool);
    }
    scopevm::fill_stats(stats, out);
    return {};
  });
}

int scopevm_scheduler_workers(const scopevm_scheduler* scheduler) {
  return scheduler == nullptr ? 0 : scheduler->scheduler->workers();
}
