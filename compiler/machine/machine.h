// What the compiler may plan for: devices, and the pools of memory that they reach. Pools and
// devices are many-to-many; a place is a device and, where one is asked for, a scope of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/index.h"
#include "scopevm/status.h"
#include "vm/format/host_kind.h"

namespace scopevm::compiler {

enum class PoolKind : uint8_t { kHeap, kArena, kStack, kConstant };

// A CPU's bytes in the frames of calls.
inline constexpr char kStackScope[] = "global.stack";

// A region of memory in which a scope's bytes lie.
struct Pool {
  std::string scope;  // "global.workspace"; of the pools of one device, each has another
  PoolKind kind = PoolKind::kArena;
  DeviceIndex device;            // whose scope it is
  std::optional<int64_t> limit;  // bytes, of a stack in each frame
  // For all that a session holds there at one time.
  bool is_limited() const { return limit && kind != PoolKind::kStack; }
  std::vector<DeviceIndex> reached;  // devices whose kernels read and write it, `device` first
  // Blocks of it, and what is planned in them, begin at multiples of so many bytes: of heaps and
  // arenas the most that a device asks for which reaches them.
  int64_t alignment = kLeastAlignment;
  static constexpr int64_t kLeastAlignment = 64;  // a cache line, and the widest vector
  std::optional<DeviceIndex> pinned_for;  // a non-CPU device, whose driver allocates its blocks
  // Of copies from it and to it, what the description says: emulation takes that.
  std::optional<double> bytes_per_second;
  std::optional<double> latency_seconds;
  // And what the planner weighs, which nobody promises.
  double planned_bytes_per_second() const { return bytes_per_second.value_or(10e9); }
  double planned_latency_seconds() const { return latency_seconds.value_or(5e-6); }
};

struct DeviceDecl {
  std::string name = "cpu";
  std::string kind = format::kHostKind;  // the name of its DeviceKind
  int number = 0;                        // among the described devices of its kind
  // Most work items that a launch runs at once. Of a CPU the session decides: limits are planned
  // for so many threads.
  int64_t workers = 2;
  // What its kernels are compiled for, in the form that the back end of its kind reads; empty: what
  // the back end takes by default.
  std::string target;
  bool has_kernels = true;  // DeviceKind::has_kernels() of its kind

  // The session's threads run its kernels, and its memory, which holds frames, is the process's.
  bool is_host() const { return kind == format::kHostKind; }
};

struct Machine {
  IndexedVector<DeviceIndex, DeviceDecl> devices;  // that have kernels
  IndexedVector<PoolIndex, Pool> pools;            // of these
  DeviceIndex default_device;
  std::vector<DeviceDecl> described_only;  // devices without kernels, for messages

  // Bytes of each frame of a CPU's stack, where its description does not say: as many as one page
  // of a small model's values takes, and few enough that a recursion costs little.
  static constexpr int64_t kStackBytes = int64_t{16} << 10;

  // One CPU with the scopes "global", "global.workspace", "global.constant" and "global.stack".
  static Machine host();

  // New indices by old ones; none for what was removed.
  struct Renumbering {
    IndexedVector<DeviceIndex, std::optional<DeviceIndex>> devices;
    IndexedVector<PoolIndex, std::optional<PoolIndex>> pools;
  };
  // Removes the other devices and their pools. REQUIRES: one that is kept is a CPU.
  Renumbering keep_devices(const IndexedVector<DeviceIndex, bool>& kept);
  // Moves devices without kernels to `described_only`.
  void set_aside_devices_without_kernels();

  std::optional<DeviceIndex> find_device(std::string_view name) const;
  // The pool that `device` calls by this scope: its own, else one of another device that it
  // reaches.
  std::optional<PoolIndex> find_pool(DeviceIndex device, std::string_view scope) const;
  bool reaches(DeviceIndex device, PoolIndex pool) const;
  std::string pool_name(PoolIndex pool) const;  // "npu.global.workspace"
  // The device that runs the VM: the first CPU.
  DeviceIndex host_device() const;
  // The scopes that every device has: what outlives a call, what a call plans, and constants.
  PoolIndex global_pool(DeviceIndex device) const { return *find_pool(device, "global"); }
  PoolIndex workspace_pool(DeviceIndex device) const {
    return *find_pool(device, "global.workspace");
  }
  PoolIndex constant_pool(DeviceIndex device) const {
    return *find_pool(device, "global.constant");
  }
  // The arena of `device` for values that are copied from or to `other`, if it has one.
  std::optional<PoolIndex> pinned_pool(DeviceIndex device, DeviceIndex other) const;
  // The device's bytes in frames, if it has any.
  std::optional<PoolIndex> stack_pool(DeviceIndex device) const;
  // Seconds that a copy of so many bytes takes, by way of the host where neither pool is a CPU's.
  double copy_seconds(PoolIndex from_pool, PoolIndex to_pool, double bytes) const;
  bool is_by_host(PoolIndex from_pool, PoolIndex to_pool) const;
};

class DeviceKind;

// Reads a machine description (docs/machine.md), whose devices are of these kinds. `origin` begins
// messages. Errors: kInvalidModel, with the member that is wrong: `machine.json: pools[2].limit:
// ...`.
Result<Machine> parse_machine(std::string_view json, const std::string& origin,
                              std::span<const DeviceKind* const> kinds);

}  // namespace scopevm::compiler
