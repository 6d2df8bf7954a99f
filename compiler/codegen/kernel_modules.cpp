// The kernel modules and kernel images of a compilation; see kernel_modules.h.
#include "compiler/codegen/kernel_modules.h"

#include <algorithm>

#include "compiler/kernels/target/target_attributes.h"
#include "compiler/support/stop.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::codegen {
namespace {

// The devices of a kind, by target.
std::vector<std::vector<Device>> groups_of(const Machine& machine, std::string_view kind) {
  std::vector<std::vector<Device>> groups;
  for (DeviceIndex index : machine.devices.indices()) {
    Device device = machine.devices[index];
    if (device.kind != kind) continue;
    device.target = machine.target_of(index);
    auto group = std::ranges::find(groups, device.target,
                                   [](const auto& devices) { return devices.front().target; });
    if (group == groups.end()) group = groups.insert(group, std::vector<Device>());
    group->push_back(std::move(device));
  }
  return groups;
}

// The maximum size of the local buffers of a kernel. The devices share their kernels, so the
// smallest stack is the limit.
int64_t max_stack_bytes(const Machine& machine, llvm::function_ref<bool(const Device&)> is_used) {
  int64_t least = format::kMaxStackBytes;
  for (DeviceIndex device : machine.devices.indices()) {
    if (!is_used(machine.devices[device])) continue;
    const std::optional<PoolIndex> stack = machine.stack_pool(device);
    least = std::min(least, stack ? *machine.pools[*stack].limit : 0);
  }
  return least;
}

format::ImageDecl declared(Image image, const std::vector<uint32_t>& devices,
                           const schedule::Target& target, const Backend& backend) {
  auto bytes = std::make_shared<const std::vector<uint8_t>>(std::move(image.bytes));
  return {devices,
          target.name,
          std::move(image.features),
          {bytes, bytes->data(), bytes->size()},
          backend.kernel_abi()};
}

}  // namespace

const schedule::Core& host_core(const Backends& backends, const Machine& machine,
                                const std::vector<std::string>& target_cpus) {
  const Device& host = machine.devices[machine.host_device()];
  const auto targets = backends.all().front()->targets(std::span(&host, 1), target_cpus);
  return targets.ok() ? schedule::core_of(targets->front()) : schedule::default_core();
}

Result<KernelModules> KernelModules::create(mlir::MLIRContext& context, const Backends& backends,
                                            const Machine& machine,
                                            const std::vector<std::string>& target_cpus) {
  KernelModules made(context);
  const std::string& host = machine.devices[machine.host_device()].name;
  for (const Backend* backend : backends.all()) {
    for (const std::vector<Device>& devices : groups_of(machine, backend->name())) {
      Group& group = made.groups_.emplace_back(Group{backend, {}, {}, {}});
      for (const Device& device : devices) group.devices.push_back(device.name);
      const Device& first = devices.front();
      const std::vector<std::string> required =
          first.name == host ? target_cpus : std::vector<std::string>();
      auto targets = backend->targets(devices, required);
      if (!targets.ok() && required.empty() && !first.target.empty())
        return Status(targets.status()).with_context("device \"" + first.name + "\"");
      SCOPEVM_ASSIGN_OR_RETURN(group.targets, std::move(targets));
      group.modules.resize(group.targets.size());
    }
  }
  return made;
}

size_t KernelModules::rounds() const {
  size_t rounds = 0;
  for (const Group& group : groups_) rounds = std::max(rounds, group.targets.size());
  return rounds;
}

kernels::ModulesByDevice KernelModules::begin_round(size_t round, const Machine& machine) {
  kernels::ModulesByDevice by_device(machine.devices.size());
  for (Group& group : groups_) {
    const size_t target = group.target_of(round);
    group.modules[target] = std::make_unique<kernels::KernelModule>(
        context_, group.targets[target], schedule::core_of(group.targets.front()));
    const auto is_used = [&](const Device& device) { return group.contains(device); };
    if (group.backend->is_host())
      group.modules[target]->module()->setAttr(
          kernels::kMaxStackBytes,
          mlir::Builder(context_).getI64IntegerAttr(max_stack_bytes(machine, is_used)));
    for (DeviceIndex device : by_device.indices())
      if (group.contains(machine.devices[device])) by_device[device] = group.modules[target].get();
  }
  return by_device;
}

std::string KernelModules::round_name(size_t round) const {
  std::string name;
  for (const Group& group : groups_)
    name += (name.empty() ? "" : ", ") + group.targets[group.target_of(round)].name;
  return name;
}

std::vector<uint32_t> KernelModules::devices_of(const Group& group, const Machine& machine) {
  std::vector<uint32_t> devices;
  for (DeviceIndex device : machine.devices.indices())
    if (group.contains(machine.devices[device])) devices.push_back(device.value);
  return devices;
}

// The kernels that images of the group contain, without duplicate symbols.
std::vector<Kernel> KernelModules::kernels_of(const Group& group, const Program& program) {
  std::vector<Kernel> table;
  for (const Kernel& kernel : program.kernels)
    // The program has an entry for each device, but the devices of a group share code and symbols.
    if (!kernel.external && group.contains(program.machine.devices[kernel.device]) &&
        std::ranges::find(table, kernel.symbol, &Kernel::symbol) == table.end())
      table.push_back(kernel);
  return table;
}

Result<std::vector<format::ImageDecl>> KernelModules::make_images(const Program& program,
                                                                  const ImagesRequest& request) {
  std::vector<format::ImageDecl> images;
  const Device& host = program.machine.devices[program.machine.host_device()];
  for (Group& group : groups_) {
    const std::vector<Kernel> table = kernels_of(group, program);
    // The host's image is also made without kernels, because it contains the shape functions.
    if (table.empty() && !group.contains(host)) continue;
    const std::vector<uint32_t> devices = devices_of(group, program.machine);
    for (size_t i = 0; i < group.targets.size(); ++i) {
      const ImageRequest one{group.modules[i]->module(),
                             table,
                             group.targets[i],
                             request.threads,
                             group.backend->is_host() ? request.add_functions : nullptr,
                             request.progress,
                             request.dump,
                             request.stop_token};
      SCOPEVM_RETURN_IF_ERROR(check_not_stopped(request.stop_token));
      SCOPEVM_ASSIGN_OR_RETURN(Image image, group.backend->make_image(one));
      images.push_back(declared(std::move(image), devices, group.targets[i], *group.backend));
    }
  }
  return images;
}

}  // namespace scopevm::compiler::codegen
