// Branch and bound over the pools that the readers of one flow reach; see the header.
#include "compiler/placement/solve/routes.h"

#include <algorithm>
#include <cmath>

#include "compiler/placement/solve/sort_unique.h"

namespace scopevm::compiler::placement {
namespace {

constexpr int64_t kLongest = int64_t{1} << 40;  // picoseconds: about a second

// Integers, so that sums do not depend on their order and ties are exact. The cap keeps the
// conversion defined and the sum of a million flows within 64 bits.
int64_t picoseconds(double seconds) {
  return static_cast<int64_t>(std::min(std::ceil(seconds * 1e12), double{kLongest}));
}

int64_t copy_cost(const Machine& machine, PoolIndex from, PoolIndex to, const Flow& flow) {
  return picoseconds(machine.copy_seconds(from, to, flow.bytes) * flow.times);
}

int64_t read_cost(const Machine& machine, PoolIndex pool, const Flow& flow,
                  const ReaderRequirements::Reads& reads) {
  int64_t sum = 0;
  for (double transfers : reads) sum += placement::read_cost(machine, pool, flow, transfers);
  return sum;
}

ReaderRequirements requirements_of(const Machine& machine, const Flow& flow,
                                   const Devices& devices) {
  ReaderRequirements requirements;
  for (const Reader& reader : flow.readers) {
    const std::optional<DeviceIndex> device = devices[reader.task];
    if (!device) continue;
    if (reader.pool.is_any())
      requirements.devices[*device].push_back(reader.reads);
    else
      // The pool exists: constrain_scope() permits only devices that have the required scopes.
      requirements.pools[*reader.pool.on(machine, *device)].push_back(reader.reads);
  }
  return requirements;
}

// Finds the cheapest copies from one home: a copy in each required pool, and the cheapest set of
// pools that the remaining devices reach. Exact, by branch and bound over these devices.
class RouteFinder {
 public:
  RouteFinder(const Problem& problem, const ReachedPools& reached, const Flow& flow,
              const ReaderRequirements& requirements, PoolIndex home)
      : problem_(problem), machine_(*problem.machine), reached_(reached), flow_(flow) {
    route_.home = home;
    route_.cost = write_cost(machine_, home, flow, flow.writes);
    for (const auto& [pool, reads] : requirements.pools) {
      route_.cost += read_cost(machine_, pool, flow, reads);
      if (pool != home && !has(pool)) add(pool);
    }
    // Readers that reach the value read no copy.
    for (const auto& [device, reads] : requirements.devices)
      if (machine_.reaches(device, home))
        route_.cost += read_cost(machine_, home, flow, reads);
      else
        served_.push_back({device, &reads});
  }

  Route run() {
    serve(0);
    std::ranges::sort(best_->copies);
    return *std::move(best_);
  }

 private:
  struct Served {
    DeviceIndex device;
    const ReaderRequirements::Reads* reads;
  };

  bool has(PoolIndex pool) const {
    return std::ranges::find(route_.copies, pool) != route_.copies.end();
  }
  // All copies through the host, and the readers on the host, share one copy in the host's memory.
  void add(PoolIndex pool) {
    PoolIndex from = route_.home;
    if (machine_.is_by_host(from, pool)) {
      from = reached_.global_pool(machine_.host_device());
      if (!has(from)) add(from);
    }
    route_.copies.push_back(pool);
    route_.cost += copy_cost(machine_, from, pool, flow_);
  }

  // The time of the reads of a device from the fastest copy that it reaches; none if it reaches
  // none.
  std::optional<int64_t> reads_of(const Served& served) const {
    std::optional<int64_t> least;
    for (PoolIndex pool : route_.copies)
      if (machine_.reaches(served.device, pool)) {
        const int64_t cost = read_cost(machine_, pool, flow_, *served.reads);
        least = std::min(least.value_or(cost), cost);
      }
    return least;
  }

  void finish() {
    Route route = route_;
    for (const Served& served : served_) route.cost += *reads_of(served);
    // Strict: of the routes of equal cost, the first one is kept.
    if (!best_ || route.cost < best_->cost) best_ = std::move(route);
  }

  void serve(size_t next) {
    if (best_ && route_.cost >= best_->cost) return;
    if (next == served_.size()) return finish();
    // A further copy is better than a shared one only if its reads take less time.
    const std::optional<int64_t> shared = reads_of(served_[next]);
    if (shared) serve(next + 1);
    const auto [device, reads] = served_[next];
    for (PoolIndex pool : reached_.of(device)) {
      // The global pool of the device is permitted even if may_hold() is false.
      if (!may_hold(problem_, pool, flow_) && pool != reached_.global_pool(device)) continue;
      if (shared && (has(pool) || read_cost(machine_, pool, flow_, *reads) >= *shared)) continue;
      const size_t copies = route_.copies.size();
      const int64_t cost = route_.cost;
      add(pool);
      serve(next + 1);
      // add() may have appended two copies, one of them in the host's memory.
      route_.copies.resize(copies);
      route_.cost = cost;
    }
  }

  const Problem& problem_;
  const Machine& machine_;
  const ReachedPools& reached_;
  const Flow& flow_;
  std::vector<Served> served_;  // the devices that read copies, without a required pool
  Route route_;
  std::optional<Route> best_;
};

// The pools that may store a value; empty if the maker's device lacks the required scope. The
// global pool of the maker's device comes first, so that it wins ties. The result does not depend
// on the readers' devices: the cost of the assigned tasks is therefore a lower bound of a flow's
// cost.
std::vector<PoolIndex> homes_of(const Problem& problem, const ReachedPools& reached,
                                const Flow& flow, DeviceIndex maker) {
  const Machine& machine = *problem.machine;
  if (!flow.pool.is_any()) {
    const std::optional<PoolIndex> pool = flow.pool.on(machine, maker);
    return pool ? std::vector{*pool} : std::vector<PoolIndex>();
  }
  // A value made directly in the pool that a reader requires, or in a pool that several devices
  // share, needs no copy for these readers.
  std::vector<PoolIndex> homes = {reached.global_pool(maker)};
  for (const Reader& reader : flow.readers) {
    if (reader.pool.is_default()) continue;
    const std::optional<PoolIndex> pool = reader.pool.on(machine, maker);
    if (pool && machine.reaches(maker, *pool)) homes.push_back(*pool);
  }
  for (PoolIndex pool : reached.of(maker))
    if (machine.pools[pool].reached.size() > 1 && may_hold(problem, pool, flow))
      homes.push_back(pool);
  return homes;
}

}  // namespace

int64_t read_cost(const Machine& machine, PoolIndex pool, const Flow& flow, double transfers) {
  return picoseconds(machine.pools[pool].planned_speed.read_seconds(flow.bytes) * transfers);
}

int64_t write_cost(const Machine& machine, PoolIndex pool, const Flow& flow, double transfers) {
  return picoseconds(machine.pools[pool].planned_speed.write_seconds(flow.bytes) * transfers);
}

int64_t input_cost(const Machine& machine, const Flow& flow, DeviceIndex maker) {
  const PoolIndex pool = *flow.pool.on(machine, maker);
  // Kernels of a non-CPU device and of another rank cannot read the caller's memory.
  if (std::ranges::all_of(machine.pools[pool].reached, [&](DeviceIndex device) {
        return machine.devices[device].is_of_callers();
      }))
    return 0;
  const PoolIndex host = machine.global_pool(machine.host_device());
  return std::max<int64_t>(copy_cost(machine, host, pool, flow) - 1, 0);
}

int64_t result_cost(const Machine& machine, const Flow& flow, const Reader& reader,
                    DeviceIndex device) {
  const PoolIndex pool = *reader.pool.on(machine, device);
  if (machine.devices[machine.pools[pool].device].is_of_callers()) return 0;
  return copy_cost(machine, pool, machine.global_pool(machine.host_device()), flow);
}

PoolIndex pool_read_by(const Machine& machine, DeviceIndex device, const Flow& flow,
                       const Route& route) {
  if (machine.reaches(device, route.home)) return route.home;
  std::optional<PoolIndex> fastest;
  const auto seconds = [&](PoolIndex pool) {
    return machine.pools[pool].planned_speed.read_seconds(flow.bytes);
  };
  for (PoolIndex pool : route.copies)
    if (machine.reaches(device, pool) && (!fastest || seconds(pool) < seconds(*fastest)))
      fastest = pool;
  return *fastest;
}

bool may_hold(const Problem& problem, PoolIndex index, const Flow& flow) {
  const Pool& pool = problem.machine->pools[index];
  if (pool.kind == PoolKind::kConstant || pool.kind == PoolKind::kStack) return false;
  if (!pool.may_be_chosen) return false;
  return !pool.limit ||
         (problem.may_choose_limited && flow.most_bytes <= static_cast<double>(*pool.limit));
}

std::optional<Route> cheapest_route(const Problem& problem, const ReachedPools& reached,
                                    const Flow& flow, DeviceIndex maker,
                                    const ReaderRequirements& requirements) {
  std::optional<Route> best;
  for (PoolIndex home : homes_of(problem, reached, flow, maker)) {
    Route route = RouteFinder(problem, reached, flow, requirements, home).run();
    // Strict: the earlier home wins ties.
    if (!best || route.cost < best->cost) best = std::move(route);
  }
  return best;
}
Route find_route(const Problem& problem, const ReachedPools& reached, const Flow& flow,
                 const Devices& devices) {
  const std::optional<DeviceIndex> maker = devices[flow.maker];
  if (!maker) return {};
  return *cheapest_route(problem, reached, flow, *maker,
                         requirements_of(*problem.machine, flow, devices));
}

Route route_of(const Problem& problem, const Flow& flow, const Devices& devices) {
  return find_route(problem, ReachedPools(*problem.machine), flow, devices);
}

}  // namespace scopevm::compiler::placement
