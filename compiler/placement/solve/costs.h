// The costs of the flows and tasks of a problem, for assignments that may be partial.
#pragma once

#include <vector>

#include "compiler/placement/problem.h"
#include "compiler/placement/solve/cost.h"
#include "compiler/placement/solve/routes.h"

namespace scopevm::compiler::placement {

class Costs {
 public:
  explicit Costs(const Problem& problem);

  const ReachedPools& reached() const { return reached_; }
  // The flows of values that the task makes or reads, without constants.
  const std::vector<FlowIndex>& flows_of(TaskIndex task) const { return flows_of_[task]; }

  // The least cost over all devices of the tasks without one. Exact for a complete assignment.
  Cost of(const Devices& devices) const;
  // The part of it that depends on the device of `task`.
  Cost of_task(TaskIndex task, const Devices& devices) const;

  // The costs that depend on the device of one task alone: the reads of constants, the copies of
  // inputs and results of the model from and to the host, and whether the device is the preferred
  // one.
  Cost alone(TaskIndex task, DeviceIndex device) const;
  // The time of the accesses of the task, with each value in the global pool of the device, or in
  // the pool that is required for it.
  int64_t accesses(TaskIndex task, DeviceIndex device) const;
  // The additional time of reading a flow on device `to` if it is made on device `from`.
  int64_t between(const Flow& flow, DeviceIndex from, DeviceIndex to) const;
  // Whether no pool is better for a copy from one of the devices to another than the global pool of
  // the latter, in the time of the copy and of reads.
  bool prefers_global_pools(const Flow& flow) const;

 private:
  struct Read {
    FlowIndex flow;
    size_t reader = 0;  // index into Flow::readers
  };
  struct LeastAccesses {
    int64_t write = 0;
    std::vector<int64_t> reads;  // by reader
  };

  int64_t of_flow(FlowIndex flow, const Devices& devices) const;
  Cost least_alone(TaskIndex task) const;
  LeastAccesses least_accesses(const Flow& flow) const;
  PoolIndex default_pool(const PoolRequirement& required, DeviceIndex device) const;

  const Problem& problem_;
  const Machine& machine_;
  const ReachedPools reached_;
  IndexedVector<DeviceIndex, PoolIndex> constant_pools_;  // Machine::constant_pool()
  IndexedVector<TaskIndex, std::vector<FlowIndex>> flows_of_;
  IndexedVector<TaskIndex, std::vector<FlowIndex>> made_by_;
  IndexedVector<TaskIndex, std::vector<Read>> read_by_;  // with constants
  IndexedVector<FlowIndex, LeastAccesses> least_;        // over all permitted devices and pools
};

}  // namespace scopevm::compiler::placement
