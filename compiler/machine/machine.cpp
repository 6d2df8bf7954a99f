// The default machine, the removal of devices, and queries about devices, pools and copy costs; see
// machine.h.
#include "compiler/machine/machine.h"

#include <algorithm>
#include <utility>

namespace scopevm::compiler {

Machine Machine::host() {
  Machine machine;
  machine.devices.emplace_back();
  machine.pools = {
      {.scope = "global", .kind = PoolKind::kHeap, .reached = {DeviceIndex{0}}},
      {.scope = "global.workspace", .kind = PoolKind::kArena, .reached = {DeviceIndex{0}}},
      {.scope = "global.constant", .kind = PoolKind::kConstant, .reached = {DeviceIndex{0}}},
      {.scope = kStackScope,
       .kind = PoolKind::kStack,
       .limit = kStackBytes,
       .reached = {DeviceIndex{0}}}};
  return machine;
}

Machine::Renumbering Machine::keep_devices(const IndexedVector<DeviceIndex, bool>& kept) {
  const Machine all = std::exchange(*this, {});
  links = all.links;
  Renumbering now;
  now.devices.resize(all.devices.size());
  now.pools.resize(all.pools.size());
  for (DeviceIndex device : all.devices.indices()) {
    if (!kept[device]) continue;
    now.devices[device] = devices.next_index();
    devices.push_back(all.devices[device]);
  }
  for (PoolIndex index : all.pools.indices()) {
    Pool pool = all.pools[index];
    if (!kept[pool.device]) continue;
    std::erase_if(pool.reached, [&](DeviceIndex device) { return !kept[device]; });
    for (DeviceIndex& device : pool.reached) device = *now.devices[device];
    pool.device = *now.devices[pool.device];
    // A pool that was pinned for a removed device becomes an ordinary arena.
    if (pool.pinned_for) pool.pinned_for = now.devices[*pool.pinned_for];
    now.pools[index] = pools.next_index();
    pools.push_back(std::move(pool));
  }
  default_device = now.devices[all.default_device].value_or(DeviceIndex{0});
  return now;
}

std::optional<DeviceIndex> Machine::find_device(std::string_view name) const {
  return find_index(devices, [&](const Device& device) { return device.name == name; });
}

std::string Machine::device_names() const {
  std::string names;
  for (const Device& device : devices) names += (names.empty() ? "" : ", ") + device.name;
  return names;
}

const std::string& Machine::target_of(DeviceIndex device) const {
  const Device& wanted = devices[device];
  if (!wanted.target.empty()) return wanted.target;
  return std::ranges::find(devices, wanted.kind, &Device::kind)->target;
}

std::optional<PoolIndex> Machine::find_pool(DeviceIndex device, std::string_view scope) const {
  std::optional<PoolIndex> reached;
  for (PoolIndex pool : pools.indices()) {
    if (pools[pool].scope != scope) continue;
    if (pools[pool].device == device) return pool;
    // The device's own pool takes precedence over a pool of another device.
    if (!reached && reaches(device, pool)) reached = pool;
  }
  return reached;
}

std::optional<PoolIndex> Machine::stack_pool(DeviceIndex device) const {
  return find_index(pools, [&](const Pool& pool) {
    return pool.kind == PoolKind::kStack && pool.device == device;
  });
}

std::optional<PoolIndex> Machine::pinned_pool(DeviceIndex device, DeviceIndex other) const {
  return find_index(
      pools, [&](const Pool& pool) { return pool.pinned_for == other && pool.device == device; });
}

std::string Machine::pool_name(PoolIndex pool) const {
  return devices[pools[pool].device].name + "." + pools[pool].scope;
}

bool Machine::reaches(DeviceIndex device, PoolIndex pool) const {
  return std::ranges::find(pools[pool].reached, device) != pools[pool].reached.end();
}

// Every machine has a CPU.
DeviceIndex Machine::host_device() const { return *find_index(devices, &Device::is_host); }

bool Machine::is_by_host(PoolIndex from_pool, PoolIndex to_pool) const {
  const DeviceIndex from = pools[from_pool].device, to = pools[to_pool].device;
  const bool is_from_host = devices[from].is_host(), is_to_host = devices[to].is_host();
  if (devices[from].rank != devices[to].rank) return !is_from_host || !is_to_host;
  return from != to && !is_from_host && !is_to_host;
}

double Machine::copy_seconds(PoolIndex from_pool, PoolIndex to_pool, double bytes) const {
  if (is_by_host(from_pool, to_pool)) {
    const PoolIndex host = global_pool(host_device());
    return copy_seconds(from_pool, host, bytes) + copy_seconds(host, to_pool, bytes);
  }
  const double seconds =
      format::copy_seconds(pools[from_pool].planned_speed, pools[to_pool].planned_speed, bytes);
  if (rank_of(from_pool) == rank_of(to_pool)) return seconds;
  const Link between = link(rank_of(from_pool), rank_of(to_pool));
  return between.latency_seconds + std::max(seconds, bytes / between.bytes_per_second);
}

Link Machine::link(int a, int b) const {
  const std::array<int, 2> ranks = {std::min(a, b), std::max(a, b)};
  const auto described = std::ranges::find(links, ranks, &Link::ranks);
  return described == links.end() ? Link{.ranks = ranks} : *described;
}

}  // namespace scopevm::compiler
