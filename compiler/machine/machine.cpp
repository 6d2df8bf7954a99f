// Machine: the default one, and what the planner asks of any.
#include "compiler/machine/machine.h"

#include <algorithm>

namespace scopevm::compiler {

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

Machine::Indices Machine::keep_devices(const std::vector<bool>& kept) {
  Indices indices{std::vector<int>(devices.size(), -1), std::vector<int>(pools.size(), -1)};
  const Machine all = std::move(*this);
  *this = {.described_only = all.described_only};
  for (size_t i = 0; i < all.devices.size(); ++i) {
    if (!kept[i]) continue;
    indices.devices[i] = static_cast<int>(devices.size());
    devices.push_back(all.devices[i]);
  }
  for (size_t i = 0; i < all.pools.size(); ++i) {
    if (!kept[all.pools[i].device]) continue;
    indices.pools[i] = static_cast<int>(pools.size());
    Pool& pool = pools.emplace_back(all.pools[i]);
    pool.device = indices.devices[pool.device];
    for (int& device : pool.reached) device = indices.devices[device];
    std::erase(pool.reached, -1);
    if (pool.pinned_for >= 0) pool.pinned_for = indices.devices[pool.pinned_for];
  }
  default_device = std::max(indices.devices[all.default_device], 0);
  return indices;
}

void Machine::set_aside_devices_without_kernels() {
  std::vector<bool> kept;
  for (const DeviceDecl& device : devices) {
    kept.push_back(device.has_kernels);
    if (!kept.back()) described_only.push_back(device);
  }
  keep_devices(kept);
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
  auto pinned = std::ranges::find_if(
      pools, [&](const Pool& pool) { return pool.pinned_for == other && pool.device == device; });
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
  auto cpu = std::ranges::find_if(devices, &DeviceDecl::is_host);
  return static_cast<int>(cpu - devices.begin());
}

bool Machine::is_by_host(int from_pool, int to_pool) const {
  const int from = pools[from_pool].device, to = pools[to_pool].device;
  return from != to && !devices[from].is_host() && !devices[to].is_host();
}

double Machine::copy_seconds(int from_pool, int to_pool, double bytes) const {
  if (is_by_host(from_pool, to_pool)) {
    const int host = global_pool(host_device());
    return copy_seconds(from_pool, host, bytes) + copy_seconds(host, to_pool, bytes);
  }
  const Pool &from = pools[from_pool], &to = pools[to_pool];
  return from.planned_latency_seconds() + to.planned_latency_seconds() +
         bytes / std::min(from.planned_bytes_per_second(), to.planned_bytes_per_second());
}

}  // namespace scopevm::compiler
