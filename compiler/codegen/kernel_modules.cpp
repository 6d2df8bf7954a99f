// The kernel modules and kernel images of a compilation; see kernel_modules.h.
#include "compiler/codegen/kernel_modules.h"

#include <algorithm>

#include "compiler/kernels/target/target_attributes.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::codegen {
namespace {

std::vector<Device> devices_of(const Machine& machine, std::string_view kind) {
  std::vector<Device> devices;
  std::ranges::copy_if(machine.devices, std::back_inserter(devices),
                       [&](const Device& device) { return device.kind == kind; });
  return devices;
}

// The kernels that images of this kind of device contain, without duplicate symbols.
std::vector<Kernel> kernels_of(const Program& program, std::string_view kind) {
  std::vector<Kernel> table;
  for (const Kernel& kernel : program.kernels)
    // The program has an entry for each device, but devices of one kind share code and symbols.
    if (!kernel.external && program.machine.devices[kernel.device].kind == kind &&
        std::ranges::find(table, kernel.symbol, &Kernel::symbol) == table.end())
      table.push_back(kernel);
  return table;
}

// The maximum size of the local buffers of a kernel: CPUs share their kernels, so that the smallest
// stack is the limit.
int64_t max_stack_bytes(const Machine& machine) {
  int64_t least = format::kMaxStackBytes;
  for (DeviceIndex device : machine.devices.indices()) {
    if (!machine.devices[device].is_host()) continue;
    const std::optional<PoolIndex> stack = machine.stack_pool(device);
    least = std::min(least, stack ? *machine.pools[*stack].limit : 0);
  }
  return least;
}

format::ImageDecl declared(Image image, DeviceIndex device, const kernels::Target& target) {
  auto bytes = std::make_shared<const std::vector<uint8_t>>(std::move(image.bytes));
  return {
      device.value, target.name, std::move(image.features), {bytes, bytes->data(), bytes->size()}};
}

}  // namespace

Result<KernelModules> KernelModules::create(mlir::MLIRContext& context, const Backends& backends,
                                            const Machine& machine,
                                            const std::vector<std::string>& target_cpus) {
  KernelModules made(context);
  for (const Backend* backend : backends.all()) {
    const std::vector<Device> devices = devices_of(machine, backend->name());
    if (devices.empty() || !backend->has_kernels()) continue;
    Kind& kind = made.kinds_.emplace_back(Kind{backend, {}, {}});
    SCOPEVM_ASSIGN_OR_RETURN(
        kind.targets,
        backend->generator()->targets(
            devices, kind.backend->is_host() ? target_cpus : std::vector<std::string>()));
    kind.modules.resize(kind.targets.size());
  }
  return made;
}

size_t KernelModules::rounds() const {
  size_t rounds = 0;
  for (const Kind& kind : kinds_) rounds = std::max(rounds, kind.targets.size());
  return rounds;
}

kernels::ModulesByDevice KernelModules::begin_round(size_t round, const Machine& machine) {
  kernels::ModulesByDevice by_device(machine.devices.size());
  for (Kind& kind : kinds_) {
    const size_t target = kind.target_of(round);
    kind.modules[target] = std::make_unique<kernels::KernelModule>(context_, kind.targets[target]);
    if (kind.backend->is_host())
      kind.modules[target]->module()->setAttr(
          kernels::kMaxStackBytes,
          mlir::Builder(context_).getI64IntegerAttr(max_stack_bytes(machine)));
    for (DeviceIndex device : by_device.indices())
      if (machine.devices[device].kind == kind.backend->name())
        by_device[device] = kind.modules[target].get();
  }
  return by_device;
}

std::string KernelModules::round_name(size_t round) const {
  std::string name;
  for (const Kind& kind : kinds_)
    name += (name.empty() ? "" : ", ") + kind.targets[kind.target_of(round)].name;
  return name;
}

Result<std::vector<format::ImageDecl>> KernelModules::make_images(const Program& program,
                                                                  const ImagesRequest& request) {
  std::vector<format::ImageDecl> images;
  for (Kind& kind : kinds_) {
    const std::string_view name = kind.backend->name();
    const std::vector<Kernel> table = kernels_of(program, name);
    // The host's image is also made without kernels, because it contains the shape functions.
    if (table.empty() && !kind.backend->is_host()) continue;
    const DeviceIndex device = *find_index(
        program.machine.devices, [&](const Device& declared) { return declared.kind == name; });
    for (size_t i = 0; i < kind.targets.size(); ++i) {
      const ImageRequest one{kind.modules[i]->module(),
                             table,
                             kind.targets[i],
                             request.threads,
                             kind.backend->is_host() ? request.add_functions : nullptr,
                             request.progress,
                             request.dump};
      SCOPEVM_ASSIGN_OR_RETURN(Image image, kind.backend->generator()->make_image(one));
      images.push_back(declared(std::move(image), device, kind.targets[i]));
    }
  }
  return images;
}

}  // namespace scopevm::compiler::codegen
