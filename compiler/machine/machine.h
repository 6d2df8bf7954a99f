// Machine: the compiler's model of the target machine. It has devices, and the pools of memory that
// they reach. Several devices can reach a pool, and a device reaches several pools. A place is a
// device, together with one of its memory scopes if a constraint requires that scope.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/index.h"
#include "scopevm/status.h"
#include "vm/format/schema/host_kind.h"
#include "vm/format/schema/pool_kind.h"
#include "vm/format/schema/pool_speed.h"

namespace scopevm::compiler {

using format::PoolKind;

// The scope of a CPU for tensors in the frames of calls.
inline constexpr char kStackScope[] = "global.stack";

// The memory that one scope of a device denotes.
struct Pool {
  std::string scope;  // "global.workspace"; unique among the pools of one device
  PoolKind kind = PoolKind::kArena;
  DeviceIndex device;            // the owner of the scope
  std::optional<int64_t> limit;  // bytes; for a stack, bytes of each frame
  // True if `limit` bounds the bytes that a session holds in the pool at one time.
  bool is_limited() const { return limit && kind != PoolKind::kStack; }
  std::vector<DeviceIndex> reached;  // devices whose kernels read and write it, `device` first
  // The alignment of the pool's blocks, and of the buffers planned in them, in bytes. For heaps and
  // arenas, it is the largest alignment that a device in `reached` requires.
  int64_t alignment = kLeastAlignment;
  static constexpr int64_t kLeastAlignment = 64;  // a cache line, and the widest vector
  std::optional<DeviceIndex> pinned_for;  // a non-CPU device; its driver allocates the blocks
  // What the description gives, and 0 for the rest. Emulation uses it.
  format::PoolSpeed speed;
  // The same with defaults for the rest. The planner's cost model uses it.
  format::PoolSpeed planned_speed = {10e9, 10e9, 5e-6, 1};
  // Whether values that are not required in the pool may be stored there. The search for the
  // cheapest placement excludes pools.
  bool may_be_chosen = true;
  bool has_bandwidth() const {
    return speed.read_bytes_per_second > 0 || speed.write_bytes_per_second > 0;
  }
  // The planned time of an access that reads or writes `bytes` bytes: the mean of both.
  double access_seconds(double bytes) const {
    return (planned_speed.read_seconds(bytes) + planned_speed.write_seconds(bytes)) / 2;
  }
};

struct Device {
  std::string name = "cpu";
  std::string kind = format::kHostKind;  // the name of its DeviceKind
  int number = 0;                        // ordinal among the described devices of its kind
  // The most work items that a launch runs at once. For a CPU, the number of threads for which
  // limits are planned; the session chooses the actual number.
  int64_t workers = 2;
  // The compilation target of its kernels, in the form that the back end of its kind reads; empty
  // for the target of the first device of its kind, or the back end's default. See
  // Machine::target_of().
  std::string target;
  // The process of a job that has the device (docs/ranks.md), from 0, the rank of the host.
  int rank = 0;

  // True if the session's threads run its kernels. Its memory is then that of the process, which
  // also stores the frames of calls.
  bool is_host() const { return kind == format::kHostKind; }
  // True if callers' tensors can be in its memory.
  bool is_of_callers() const { return is_host() && rank == 0; }
};

// The connection of two ranks, in both directions.
struct Link {
  std::array<int, 2> ranks = {};  // in ascending order
  double bytes_per_second = 10e9;
  double latency_seconds = 5e-6;
};

struct Machine {
  IndexedVector<DeviceIndex, Device> devices;  // at least one is a CPU
  IndexedVector<PoolIndex, Pool> pools;
  std::vector<Link> links;  // those of other pairs of ranks have the defaults
  DeviceIndex default_device;

  // The default limit of a CPU's stack, in bytes per frame. It is large enough for the values of a
  // small model, and small enough that deep recursion is cheap.
  static constexpr int64_t kStackBytes = int64_t{16} << 10;

  // One CPU with the scopes "global", "global.workspace", "global.constant" and "global.stack".
  static Machine host();

  // The number of processes of a job with the machine.
  int ranks() const { return std::ranges::max(devices, {}, &Device::rank).rank + 1; }

  // Maps old indices to new ones. Removed devices and pools have no new index.
  struct Renumbering {
    IndexedVector<DeviceIndex, std::optional<DeviceIndex>> devices;
    IndexedVector<PoolIndex, std::optional<PoolIndex>> pools;
  };
  // Removes all devices that are not `kept`, and their pools. If the default device is removed, the
  // first kept device replaces it. REQUIRES: a kept device is a CPU.
  Renumbering keep_devices(const IndexedVector<DeviceIndex, bool>& kept);

  std::optional<DeviceIndex> find_device(std::string_view name) const;
  std::string device_names() const;  // for messages: "cpu, gpu"
  // The device's target. Without one, it is that of the first device of its kind.
  const std::string& target_of(DeviceIndex device) const;
  // The pool that a scope of `device` denotes: the device's own pool of that name. Without one, it
  // is the first pool of that name that `device` reaches.
  std::optional<PoolIndex> find_pool(DeviceIndex device, std::string_view scope) const;
  bool reaches(DeviceIndex device, PoolIndex pool) const;
  std::string pool_name(PoolIndex pool) const;  // "npu.global.workspace"
  // The device that runs the VM: the first CPU.
  DeviceIndex host_device() const;
  // The pools that every device has: global_pool() for results and other individually allocated
  // values, workspace_pool() for planned buffers, constant_pool() for constants.
  PoolIndex global_pool(DeviceIndex device) const { return *find_pool(device, "global"); }
  PoolIndex workspace_pool(DeviceIndex device) const {
    return *find_pool(device, "global.workspace");
  }
  PoolIndex constant_pool(DeviceIndex device) const {
    return *find_pool(device, "global.constant");
  }
  // The arena of `device` for values that are copied from or to `other`, if it has one.
  std::optional<PoolIndex> pinned_pool(DeviceIndex device, DeviceIndex other) const;
  // The pool of the device for tensors in frames, if it has one.
  std::optional<PoolIndex> stack_pool(DeviceIndex device) const;
  // The connection of two ranks, in any order: the described one, or one with the defaults.
  Link link(int a, int b) const;
  int rank_of(PoolIndex pool) const { return devices[pools[pool].device].rank; }
  // Estimated seconds of a copy of `bytes` bytes, through the host if is_by_host().
  double copy_seconds(PoolIndex from_pool, PoolIndex to_pool, double bytes) const;
  // True if the pools belong to two different non-CPU devices, or to a non-CPU device and another
  // rank. A copy then goes through the host.
  bool is_by_host(PoolIndex from_pool, PoolIndex to_pool) const;
};

class DeviceKind;

// Parses a machine description (docs/machine.md) with devices of the given kinds. `origin` is the
// prefix of messages, for instance a file name. Errors: kInvalidModel, with the position of a
// syntax error, or the path of the offending member: `machine.json: pools[2].limit_bytes: ...`.
Result<Machine> parse_machine(std::string_view json, const std::string& origin,
                              std::span<const DeviceKind* const> kinds);

}  // namespace scopevm::compiler
