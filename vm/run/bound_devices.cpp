#include "vm/run/bound_devices.h"

#include <algorithm>
#include <string>

#include "runtime/nearest_name.h"
#include "runtime/opencl/opencl.h"

namespace scopevm::vm {
namespace {

constexpr char kOpenClKind[] = "opencl";

Status check_binding(const format::ModuleContents& contents, const DeviceBinding& binding) {
  auto device = std::ranges::find(contents.devices, binding.device, &format::DeviceDecl::name);
  if (device == contents.devices.end()) {
    std::vector<std::string> known;
    for (const format::DeviceDecl& decl : contents.devices) known.push_back(decl.name);
    return {StatusCode::kInvalidArgument, "the module has no device \"" + binding.device + "\"" +
                                              runtime::name_suggestion(binding.device, known)};
  }
  if (device->kind != binding.kind)
    return {StatusCode::kInvalidArgument, "device \"" + binding.device + "\" is of kind " +
                                              device->kind + ", not " + binding.kind};
  return {};
}

}  // namespace

BoundDevices::~BoundDevices() {
  for (const Block& block : blocks_) block.device->deallocate(block.data, block.bytes);
}

Status BoundDevices::open(const LoadedModule& module, const std::vector<DeviceBinding>& bindings) {
  const format::ModuleContents& contents = module.contents();
  for (const DeviceBinding& binding : bindings)
    SCOPEVM_RETURN_IF_ERROR(check_binding(contents, binding));
  SCOPEVM_RETURN_IF_ERROR(open_devices(contents, bindings));
  for (const format::PoolDecl& pool : contents.pools)
    by_pool_.push_back(devices_[pool.device].get());
  kernels_.resize(contents.kernels.size());
  if (std::ranges::all_of(devices_, [](const auto& device) { return device == nullptr; }))
    return {};
  SCOPEVM_RETURN_IF_ERROR(load_images(contents));
  return copy_constants(contents);
}

// Devices of one kind that nobody binds get the numbers 0, 1, ... in the module's order.
Status BoundDevices::open_devices(const format::ModuleContents& contents,
                                  const std::vector<DeviceBinding>& bindings) {
  int next = 0;
  for (const format::DeviceDecl& decl : contents.devices) {
    if (decl.kind == format::kCpuKind) {
      devices_.push_back(nullptr);
      continue;
    }
    if (decl.kind != kOpenClKind)
      return {StatusCode::kUnsupported, "device \"" + decl.name + "\" is of kind \"" + decl.kind +
                                            "\", which this build does not know"};
    int number = next++;
    for (const DeviceBinding& binding : bindings)
      if (binding.device == decl.name) number = binding.number;
    Result<std::shared_ptr<runtime::Device>> device = runtime::open_opencl_device(number);
    if (!device.is_ok())
      return Status(device.status()).with_context("device \"" + decl.name + "\"");
    devices_.push_back(*std::move(device));
  }
  return {};
}

Status BoundDevices::load_images(const format::ModuleContents& contents) {
  for (size_t d = 0; d < devices_.size(); ++d) {
    if (devices_[d] == nullptr) continue;
    const format::DeviceDecl& decl = contents.devices[d];
    auto image = std::ranges::find_if(contents.images, [&](const format::ImageDecl& image) {
      return contents.devices[image.device].kind == decl.kind;
    });
    if (image == contents.images.end()) continue;  // nothing runs there
    const std::string context = "device \"" + decl.name + "\"";
    Result<std::unique_ptr<runtime::DeviceImage>> loaded =
        devices_[d]->load({image->elf.data, static_cast<size_t>(image->elf.size)});
    if (!loaded.is_ok()) return Status(loaded.status()).with_context(context);
    for (size_t k = 0; k < contents.kernels.size(); ++k) {
      const format::KernelDecl& kernel = contents.kernels[k];
      if (kernel.device != d) continue;
      const runtime::DeviceKernel* function =
          (*loaded)->find(kernel.symbol, static_cast<int>(kernel.buffer_count),
                          static_cast<int>(kernel.param_count));
      if (function == nullptr)
        return {StatusCode::kInvalidModel,
                context + ": its image has no kernel \"" + kernel.symbol + "\""};
      kernels_[k] = {devices_[d].get(), function};
    }
    images_.push_back(*std::move(loaded));
  }
  return {};
}

Status BoundDevices::copy_constants(const format::ModuleContents& contents) {
  constants_.assign(contents.constants.size(), nullptr);
  for (size_t i = 0; i < contents.constants.size(); ++i) {
    const format::ConstantDecl& constant = contents.constants[i];
    runtime::Device* device = by_pool_[constant.pool];
    if (device == nullptr) continue;
    const auto bytes = static_cast<int64_t>(constant.bytes.size);
    void* block = device->allocate(bytes);
    if (block == nullptr)
      return {StatusCode::kOutOfMemory, "no " + std::to_string(bytes) + " bytes for constant \"" +
                                            constant.name + "\" on " +
                                            std::string(device->description())};
    blocks_.push_back({device, block, bytes});
    SCOPEVM_RETURN_IF_ERROR(device->copy_in(block, constant.bytes.data, bytes));
    constants_[i] = block;
  }
  return {};
}

}  // namespace scopevm::vm
