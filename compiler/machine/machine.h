// What the compiler may plan for: devices, and the pools of memory that they reach. Pools and
// devices are many-to-many; a place is a device and, where one is asked for, a scope of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  int device = 0;      // whose scope it is
  int64_t limit = -1;  // bytes, of a stack in each frame; -1: none
  // For all that a session holds there at one time.
  bool is_limited() const { return limit >= 0 && kind != PoolKind::kStack; }
  std::vector<int> reached;  // devices whose kernels read and write it, `device` first
  // Blocks of it, and what is planned in them, begin at multiples of so many bytes: of heaps and
  // arenas the most that a device asks for which reaches them.
  int64_t alignment = kLeastAlignment;
  static constexpr int64_t kLeastAlignment = 64;  // a cache line, and the widest vector
  int pinned_for = -1;  // a device that is no CPU, whose driver gives its blocks; -1: none
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
  std::vector<DeviceDecl> devices;  // that have kernels
  std::vector<Pool> pools;          // of these
  int default_device = 0;
  std::vector<DeviceDecl> described_only;  // devices without kernels, for messages

  // Bytes of each frame of a CPU's stack, where its description does not say: as many as one page
  // of a small model's values takes, and few enough that a recursion costs little.
  static constexpr int64_t kStackBytes = int64_t{16} << 10;

  // One CPU with the scopes "global", "global.workspace", "global.constant" and "global.stack".
  static Machine host();

  // New indices by old ones; -1: gone.
  struct Indices {
    std::vector<int> devices;
    std::vector<int> pools;
  };
  // Drops the other devices and their pools. REQUIRES: one that is kept is a CPU.
  Indices keep_devices(const std::vector<bool>& kept);
  // Moves devices without kernels to `described_only`.
  void set_aside_devices_without_kernels();

  std::optional<int> find_device(std::string_view name) const;
  // The pool that `device` calls by this scope: its own, else one of another device that it
  // reaches.
  std::optional<int> find_pool(int device, std::string_view scope) const;
  bool reaches(int device, int pool) const;
  std::string pool_name(int pool) const;  // "npu.global.workspace"
  // The device that runs the VM: the first CPU.
  int host_device() const;
  // The scopes that every device has: what outlives a call, what a call plans, and constants.
  int global_pool(int device) const { return *find_pool(device, "global"); }
  int workspace_pool(int device) const { return *find_pool(device, "global.workspace"); }
  int constant_pool(int device) const { return *find_pool(device, "global.constant"); }
  // The arena of `device` for values that are copied from or to `other`, if it has one.
  std::optional<int> pinned_pool(int device, int other) const;
  // The device's bytes in frames, if it has any.
  std::optional<int> stack_pool(int device) const;
  // Seconds that a copy of so many bytes takes, by way of the host where neither pool is a CPU's.
  double copy_seconds(int from_pool, int to_pool, double bytes) const;
  bool is_by_host(int from_pool, int to_pool) const;
};

class DeviceKind;

// Reads a machine description (docs/machine.md), whose devices are of these kinds. `origin` begins
// messages. Errors: kInvalidModel, with the member that is wrong: `machine.json: pools[2].limit:
// ...`.
Result<Machine> parse_machine(std::string_view json, const std::string& origin,
                              std::span<const DeviceKind* const> kinds);

}  // namespace scopevm::compiler
