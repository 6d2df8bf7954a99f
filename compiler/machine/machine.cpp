// Machine: the default one, and what the planner asks of any.
#include "compiler/machine/machine.h"

#include <algorithm>

namespace scopevm {

Machine Machine::host() {
  Machine machine;
  machine.devices.emplace_back();
  machine.pools = {
      {.scope = "global", .kind = PoolKind::kHeap, .reached = {0}},
      {.scope = "global.workspace", .kind = PoolKind::kArena, .reached = {0}},
      {.scope = "global.constant", .kind = PoolKind::kConstant, .reached = {0}},
      {.scope = kStackScope, .kind = PoolKind::kStack, .limit = kStackBytes, .reached = {0}}};
  return machine;
}

void Machine::set_aside_devices_without_kernels() {
  constexpr int kGone = -1;
  std::vector<int> index_of(devices.size(), kGone);
  std::vector<DeviceDecl> kept;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].has_kernels()) index_of[i] = static_cast<int>(kept.size());
    (devices[i].has_kernels() ? kept : described_only).push_back(std::move(devices[i]));
  }
  devices = std::move(kept);
  std::erase_if(pools, [&](const Pool& pool) { return index_of[pool.device] == kGone; });
  for (Pool& pool : pools) {
    pool.device = index_of[pool.device];
    for (int& device : pool.reached) device = index_of[device];
  }
  default_device = index_of[default_device];
}

std::optional<int> Machine::find_device(std::string_view name) const {
  auto found = std::ranges::find(devices, name, &DeviceDecl::name);
  if (found == devices.end()) return std::nullopt;
  return static_cast<int>(found - devices.begin());
}

std::optional<int> Machine::find_pool(int device, std::string_view scope) const {
  std::optional<int> reached;
  for (size_t i = 0; i < pools.size(); ++i) {
    if (pools[i].scope != scope) continue;
    if (pools[i].device == device) return static_cast<int>(i);
    if (!reached && reaches(device, static_cast<int>(i))) reached = static_cast<int>(i);
  }
  return reached;
}

std::optional<int> Machine::stack_pool(int device) const {
  auto stack = std::ranges::find_if(pools, [&](const Pool& pool) {
    return pool.kind == PoolKind::kStack && pool.device == device;
  });
  if (stack == pools.end()) return std::nullopt;
  return static_cast<int>(stack - pools.begin());
}

std::optional<int> Machine::pinned_pool(int device, int other) const {
  auto pinned = std::ranges::find_if(pools, [&](const Pool& pool) {
    return pool.pinned_for == other && pool.device == device && pool.kind == PoolKind::kArena;
  });
  if (pinned == pools.end()) return std::nullopt;
  return static_cast<int>(pinned - pools.begin());
}

std::string Machine::pool_name(int pool) const {
  return devices[pools[pool].device].name + "." + pools[pool].scope;
}

bool Machine::reaches(int device, int pool) const {
  return std::ranges::find(pools[pool].reached, device) != pools[pool].reached.end();
}

int Machine::host_device() const {
  auto cpu = std::ranges::find_if(devices, &DeviceDecl::is_cpu);
  return static_cast<int>(cpu - devices.begin());
}

bool Machine::is_by_host(int from_pool, int to_pool) const {
  const int from = pools[from_pool].device, to = pools[to_pool].device;
  return from != to && !devices[from].is_cpu() && !devices[to].is_cpu();
}

double Machine::copy_seconds(int from_pool, int to_pool, double bytes) const {
  if (is_by_host(from_pool, to_pool)) {
    const int host = global_pool(host_device());
    return copy_seconds(from_pool, host, bytes) + copy_seconds(host, to_pool, bytes);
  }
  const Pool &from = pools[from_pool], &to = pools[to_pool];
  return from.latency_seconds + to.latency_seconds +
         bytes / std::min(from.bytes_per_second, to.bytes_per_second);
}

}  // namespace scopevm
