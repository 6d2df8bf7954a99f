// The cheapest pools for a value and its copies, once the devices of its tasks are known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/placement/problem.h"

namespace scopevm::compiler::placement {

// The pools that store a value and its copies.
struct Route {
  PoolIndex home;                 // stores the value itself
  std::vector<PoolIndex> copies;  // pools that store a copy, ascending
  int64_t cost = 0;               // time of all copies and accesses, picoseconds
};

// Time of `transfers` reads or writes of the value in the pool, in picoseconds.
int64_t read_cost(const Machine& machine, PoolIndex pool, const Flow& flow, double transfers);
int64_t write_cost(const Machine& machine, PoolIndex pool, const Flow& flow, double transfers);

// Time of the copy of an input of the model from the host's memory, or of a result to it; 0 if none
// is made. The copy of an input takes one picosecond less than other copies, so that the input is
// placed with its readers. REQUIRES: a pool is required for the input, and for the result.
int64_t input_cost(const Machine& machine, const Flow& flow, DeviceIndex maker);
int64_t result_cost(const Machine& machine, const Flow& flow, const Reader& reader,
                    DeviceIndex device);

// The pool that a reader on `device` reads, without a required pool: the value's own, or else the
// copy with the fastest reads. REQUIRES: the device reaches one of them.
PoolIndex pool_read_by(const Machine& machine, DeviceIndex device, const Flow& flow,
                       const Route& route);

// The cheapest route to the readers whose tasks have a device; an empty route if the maker has
// none. REQUIRES: the maker's device has the scope that the flow requires.
Route route_of(const Problem& problem, const Flow& flow, const Devices& devices);

// The pools that each device reaches, in order. Without this table, a search over a machine with
// many devices would visit all pools for each of them.
class ReachedPools {
 public:
  explicit ReachedPools(const Machine& machine) : machine_(machine) {
    of_.resize(machine.devices.size());
    for (PoolIndex pool : machine.pools.indices())
      for (DeviceIndex device : machine.pools[pool].reached) of_[device].push_back(pool);
  }
  const std::vector<PoolIndex>& of(DeviceIndex device) const { return of_[device]; }
  // Machine::global_pool(). Every device has its own.
  PoolIndex global_pool(DeviceIndex device) const {
    return *std::ranges::find_if(of_[device], [&](PoolIndex index) {
      const Pool& pool = machine_.pools[index];
      return pool.device == device && pool.scope == "global";
    });
  }

 private:
  const Machine& machine_;
  IndexedVector<DeviceIndex, std::vector<PoolIndex>> of_;
};

// The requirements of a flow's readers.
struct ReaderRequirements {
  using Reads = std::vector<double>;  // Reader::reads
  std::map<PoolIndex, Reads> pools;
  std::map<DeviceIndex, Reads> devices;  // of readers without a required pool
};

// route_of() with a table that serves many flows.
Route find_route(const Problem& problem, const ReachedPools& reached, const Flow& flow,
                 const Devices& devices);

// The cheapest route from `maker` to readers with these requirements; none if the maker's device
// lacks the flow's scope.
std::optional<Route> cheapest_route(const Problem& problem, const ReachedPools& reached,
                                    const Flow& flow, DeviceIndex maker,
                                    const ReaderRequirements& requirements);

// Whether the solver may choose the pool for a value that is not required in it: see
// Pool::may_be_chosen. At all dims, the value alone must be within the pool's limit. Constant pools
// store only constants, and stacks are filled later, when memory is planned.
bool may_hold(const Problem& problem, PoolIndex index, const Flow& flow);

}  // namespace scopevm::compiler::placement
