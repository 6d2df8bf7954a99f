// Verifies devices, pools and images, and that kernels have an image for their device.
#include <algorithm>
#include <set>
#include <utility>

#include "vm/format/verify/stages.h"

namespace scopevm::format {
namespace {

// Limits far above the sizes in real modules.
constexpr size_t kMaxFeatureText = 64;
constexpr int64_t kMaxWorkers = int64_t{1} << 24;
constexpr uint32_t kMaxDeviceNumber = 1 << 16;

Status verify_devices(const ModuleContents& module) {
  if (module.devices.empty()) return invalid("module has no device");
  if (module.devices.size() > kMaxDevices)
    return invalid(std::to_string(module.devices.size()) + " devices, the limit is " +
                   std::to_string(kMaxDevices));
  if (module.pools.size() > kMaxPools)
    return invalid(std::to_string(module.pools.size()) + " pools, the limit is " +
                   std::to_string(kMaxPools));
  if (std::ranges::none_of(module.devices, &DeviceDecl::is_host))
    return invalid("module has no CPU");
  std::set<std::string_view> names;
  for (const DeviceDecl& device : module.devices) {
    const std::string context = "device " + quoted(device.name);
    if (!names.insert(device.name).second) return invalid("duplicate " + context);
    if (device.is_host() ? device.workers != 0 : device.workers < 1 || device.workers > kMaxWorkers)
      return invalid(context + ": workers is " + std::to_string(device.workers) + ", expected " +
                     (device.is_host() ? "0 for a CPU" : "1 to " + std::to_string(kMaxWorkers)));
    if (device.number > (device.is_host() ? 0 : kMaxDeviceNumber))
      return invalid(
          context + ": number is " + std::to_string(device.number) + ", expected " +
          (device.is_host() ? "0 for a CPU" : "at most " + std::to_string(kMaxDeviceNumber)));
  }
  return {};
}

// Each rank has a device. The VM of rank 0 takes the requests, and only the CPUs of other ranks can
// exchange messages with it.
Status verify_ranks(const ModuleContents& module) {
  const DeviceDecl& host = module.devices[module.host_device()];
  if (host.rank != 0)
    return invalid("device " + quoted(host.name) + ": rank is " + std::to_string(host.rank) +
                   ", expected 0 for the first CPU");
  std::set<uint32_t> ranks;
  for (const DeviceDecl& device : module.devices) {
    const std::string context = "device " + quoted(device.name);
    if (device.rank >= kMaxRanks)
      return invalid(context + ": rank is " + std::to_string(device.rank) +
                     ", expected less than " + std::to_string(kMaxRanks));
    if (device.rank > 0 && !device.is_host())
      return invalid(context + ": rank is " + std::to_string(device.rank) +
                     ", expected 0 for a device that is not a CPU");
    ranks.insert(device.rank);
  }
  if (ranks.size() <= *ranks.rbegin())
    return invalid(std::to_string(ranks.size()) + " ranks, of which the last one is " +
                   std::to_string(*ranks.rbegin()));
  return {};
}

Status verify_sharing(const ModuleContents& module, const PoolDecl& pool) {
  for (uint32_t device : pool.shared_with) {
    SCOPEVM_RETURN_IF_ERROR(check_index("device", device, module.devices.size()));
    if (device == pool.device) return invalid("shared_with contains the pool's own device");
    if (module.devices[device].rank != module.devices[pool.device].rank)
      return invalid("shared_with contains device " + quoted(module.devices[device].name) +
                     " of another rank");
    // The addresses of a pool are valid for one driver only, or for the host and one driver.
    if (module.devices[device].kind != module.devices[pool.device].kind &&
        module.sharing_device(pool) != device)
      return invalid("shared_with contains device " + quoted(module.devices[device].name) +
                     " of kind " + module.devices[device].kind + ", expected kind " +
                     module.devices[pool.device].kind);
  }
  return {};
}

// A CPU has at most one stack pool, with a limit that keeps frames small.
Status verify_stack(const ModuleContents& module, const PoolDecl& pool) {
  if (pool.kind != PoolKind::kStack) return {};
  if (!module.devices[pool.device].is_host()) return invalid("stack pool of a non-CPU device");
  if (pool.limit < 0 || pool.limit > kMaxStackBytes)
    return invalid("stack pool: limit is " + std::to_string(pool.limit) + ", expected 0 to " +
                   std::to_string(kMaxStackBytes));
  for (const PoolDecl& other : module.pools)
    if (&other != &pool && other.kind == PoolKind::kStack && other.device == pool.device)
      return invalid("second stack pool of a device, expected at most one");
  return {};
}

Status verify_pinning(const ModuleContents& module, const PoolDecl& pool) {
  if (pool.pinned_for == -1) return {};
  if (pool.pinned_for < 0)
    return invalid("pinned_for is " + std::to_string(pool.pinned_for) +
                   ", expected a device index or -1");
  const auto device = static_cast<uint32_t>(pool.pinned_for);
  SCOPEVM_RETURN_IF_ERROR(check_index("device", device, module.devices.size()));
  if (module.devices[device].is_host())
    return invalid("pinned for device " + quoted(module.devices[device].name) +
                   ", a CPU; expected a non-CPU device");
  if (!module.devices[pool.device].is_host()) return invalid("pinned pool of a non-CPU device");
  // An allocation of pinned memory waits for the device. The allocator of an arena caches whole
  // blocks, so that few calls wait.
  return pool.kind == PoolKind::kArena ? Status() : invalid("pinned pool must be an arena");
}

// The driver of the other device allocates the blocks, and an arena caches whole blocks.
Status verify_shared_arena(const ModuleContents& module, const PoolDecl& pool) {
  if (!module.sharing_device(pool)) return {};
  if (pool.kind != PoolKind::kArena)
    return invalid("pool that is shared with a non-CPU device must be an arena");
  return pool.pinned_for == -1 ? Status() : invalid("pinned pool is shared with a non-CPU device");
}

// All devices of an image load it in the same form, so they are of one kind.
Status verify_image_devices(const ModuleContents& module, const ImageDecl& image) {
  if (image.devices.empty()) return invalid("has no devices");
  std::set<uint32_t> known;
  for (const uint32_t device : image.devices) {
    SCOPEVM_RETURN_IF_ERROR(check_index("device", device, module.devices.size()));
    const DeviceDecl& decl = module.devices[device];
    if (!known.insert(device).second) return invalid("duplicate device " + quoted(decl.name));
    const std::string& kind = module.devices[image.devices.front()].kind;
    if (decl.kind != kind)
      return invalid("device " + quoted(decl.name) + " is of kind " + decl.kind +
                     ", expected kind " + kind);
  }
  return {};
}

}  // namespace

Status verify_machine(const ModuleContents& module) {
  SCOPEVM_RETURN_IF_ERROR(verify_devices(module));
  SCOPEVM_RETURN_IF_ERROR(verify_ranks(module));
  std::set<std::pair<uint32_t, std::string_view>> names;
  for (size_t i = 0; i < module.pools.size(); ++i) {
    const PoolDecl& pool = module.pools[i];
    std::string context = "pool " + std::to_string(i);
    if (static_cast<uint8_t>(pool.kind) > static_cast<uint8_t>(PoolKind::kConstant))
      return invalid(context + ": unknown kind " + std::to_string(static_cast<int>(pool.kind)));
    if (const char* member = pool.speed.invalid_member())
      return invalid(context + ": " + member + " is out of range");
    if (!pool.has_valid_alignment() ||
        // Frames align storages to kLeastAlignment only.
        (pool.kind == PoolKind::kStack && pool.alignment != kLeastAlignment))
      return invalid(context + ": alignment is " + std::to_string(pool.alignment) + ", expected " +
                     (pool.kind == PoolKind::kStack
                          ? std::to_string(kLeastAlignment)
                          : "a power of two from " + std::to_string(kLeastAlignment) + " to " +
                                std::to_string(kMostAlignment)));
    if (pool.limit < -1)
      return invalid(context + ": limit is " + std::to_string(pool.limit) +
                     ", expected at least 0, or -1 for none");
    SCOPEVM_RETURN_IF_ERROR(
        check_index("device", pool.device, module.devices.size()).with_context(context));
    if (!names.emplace(pool.device, pool.scope).second)
      return invalid(context + ": duplicate scope " + quoted(pool.scope) + " of device " +
                     quoted(module.devices[pool.device].name));
    SCOPEVM_RETURN_IF_ERROR(verify_sharing(module, pool).with_context(context));
    SCOPEVM_RETURN_IF_ERROR(verify_stack(module, pool).with_context(context));
    SCOPEVM_RETURN_IF_ERROR(verify_pinning(module, pool).with_context(context));
    SCOPEVM_RETURN_IF_ERROR(verify_shared_arena(module, pool).with_context(context));
  }
  return {};
}

Status verify_images(const ModuleContents& module) {
  for (size_t i = 0; i < module.images.size(); ++i) {
    const ImageDecl& image = module.images[i];
    std::string context = "image " + std::to_string(i);
    SCOPEVM_RETURN_IF_ERROR(verify_image_devices(module, image).with_context(context));
    if (image.bytes.size == 0) return invalid(context + ": is empty");
    for (const std::string& feature : image.features)
      if (feature.empty() || feature.size() > kMaxFeatureText ||
          feature.find_first_of(" \t\n") != std::string::npos)
        return invalid(context + ": invalid feature name " + quoted(feature));
  }
  // Shape functions run on the host even if all kernels run on other devices.
  const bool has_host_image = module.has_image(module.host_device());
  if (!module.shape_functions.empty() && !has_host_image)
    return invalid("module has shape functions but no image for the host");
  if (!module.launches.empty() && !has_host_image)
    return invalid("module has launches but no image for the host, which contains their checksum");
  for (size_t i = 0; i < module.kernels.size(); ++i) {
    const uint32_t device = module.kernels[i].device;
    SCOPEVM_RETURN_IF_ERROR(check_index("device", device, module.devices.size())
                                .with_context("kernel " + std::to_string(i)));
    if (!module.kernels[i].external && !module.has_image(device))
      return invalid("kernel " + std::to_string(i) + ": device " +
                     quoted(module.devices[device].name) + " has no image");
  }
  return {};
}

}  // namespace scopevm::format
