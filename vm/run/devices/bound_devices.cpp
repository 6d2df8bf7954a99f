// Opens devices, loads images and copies constants for a session; see bound_devices.h.
#include "vm/run/devices/bound_devices.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/bytes_text.h"
#include "runtime/drivers/built_in.h"
#include "runtime/memory/sources/block_sources.h"
#include "runtime/nearest_name.h"
#include "runtime/tensor/shape.h"
#include "runtime/without_exceptions.h"
#include "vm/run/ranks/remote_device.h"
#include "vm/run/ranks/remote_memory.h"

namespace scopevm::vm {
namespace {

Status check_binding(const format::ModuleContents& contents, const DeviceBinding& binding) {
  auto device = std::ranges::find(contents.devices, binding.device, &format::DeviceDecl::name);
  if (device == contents.devices.end()) {
    std::vector<std::string> known;
    for (const format::DeviceDecl& decl : contents.devices) known.push_back(decl.name);
    return {StatusCode::kInvalidArgument, "the module has no device \"" + binding.device + "\"" +
                                              runtime::name_suggestion(binding.device, known)};
  }
  if (device->kind != binding.kind)
    return {StatusCode::kInvalidArgument, "device \"" + binding.device + "\": expected kind " +
                                              device->kind + ", given " + binding.kind};
  return {};
}

std::string device_text(const format::DeviceDecl& device) {
  return "device \"" + device.name + "\"";
}

}  // namespace

Result<std::shared_ptr<runtime::Device>> open_device(const std::string& kind, int number) {
  return runtime::built_in_drivers().open(kind, number);
}

BoundDevices::~BoundDevices() {
  for (const Block& block : blocks_)
    if (block.is_shared)
      block.device->deallocate_shared(block.data, block.bytes);
    else
      block.device->deallocate(block.data, block.bytes);
}

Status BoundDevices::open(const LoadedModule& module, const std::vector<DeviceBinding>& bindings,
                          bool is_timed, const DeviceOpener& opener, RankGroup* ranks) {
  const format::ModuleContents& contents = module.contents();
  if (ranks != nullptr) message_memory_ = ranks->message_memory();
  for (const DeviceBinding& binding : bindings)
    SCOPEVM_RETURN_IF_ERROR(check_binding(contents, binding));
  SCOPEVM_RETURN_IF_ERROR(open_devices(contents, bindings, is_timed, opener, ranks));
  for (const format::PoolDecl& pool : contents.pools)
    by_pool_.push_back(devices_[pool.device].get());
  kernels_.resize(contents.kernels.size());
  if (are_all_cpus()) return {};
  SCOPEVM_RETURN_IF_ERROR(check_sharing(contents));
  SCOPEVM_RETURN_IF_ERROR(load_images(contents));
  return copy_constants(contents);
}

Status BoundDevices::check_sharing(const format::ModuleContents& contents) const {
  for (const format::PoolDecl& pool : contents.pools)
    if (const auto sharing = contents.sharing_device(pool);
        sharing && !devices_[*sharing]->shares_memory())
      return {StatusCode::kUnsupported, contents.devices[pool.device].name + "." + pool.scope +
                                            " is reached by " +
                                            device_text(contents.devices[*sharing]) + ", but " +
                                            std::string(devices_[*sharing]->description()) +
                                            " cannot access memory of the host"};
  return {};
}

std::shared_ptr<BlockSource> BoundDevices::block_source(const format::ModuleContents& contents,
                                                        const format::PoolDecl& pool) const {
  using Kind = runtime::DeviceSource::Kind;
  const auto& device = devices_[contents.block_source(pool)];
  // Messages come from and go to arenas: those of the values of a call.
  if (device == nullptr) return pool.kind == format::PoolKind::kArena ? message_memory_ : nullptr;
  const Kind kind = pool.pinned_for >= 0            ? Kind::kPinned
                    : contents.sharing_device(pool) ? Kind::kShared
                                                    : Kind::kDevice;
  return std::make_shared<runtime::DeviceSource>(device, kind);
}

bool BoundDevices::are_all_cpus() const {
  return std::ranges::all_of(devices_, [](const auto& device) { return device == nullptr; });
}

std::vector<std::unique_ptr<runtime::DeviceStream>> BoundDevices::make_streams() const {
  std::vector<std::unique_ptr<runtime::DeviceStream>> streams;
  if (are_all_cpus()) return streams;
  for (const std::shared_ptr<runtime::Device>& device : devices_)
    streams.push_back(device ? device->make_stream() : nullptr);
  return streams;
}

// An unbound device defaults to the ordinal recorded in the module's machine description.
Status BoundDevices::open_devices(const format::ModuleContents& contents,
                                  const std::vector<DeviceBinding>& bindings, bool is_timed,
                                  const DeviceOpener& opener, RankGroup* ranks) {
  for (const format::DeviceDecl& decl : contents.devices) {
    is_remote_.push_back(ranks != nullptr && std::cmp_not_equal(decl.rank, ranks->rank()));
    if (is_remote_.back()) {
      devices_.push_back(
          std::make_shared<RemoteDevice>(*ranks, static_cast<int>(decl.rank), decl.kind));
      continue;
    }
    const auto binding = std::ranges::find(bindings, decl.name, &DeviceBinding::device);
    // Several devices of the host's kind in a module model memories of one processor, which has no
    // device object.
    if (decl.is_host() && (binding == bindings.end() || binding->number == 0)) {
      devices_.push_back(nullptr);
      continue;
    }
    const int number = binding == bindings.end() ? static_cast<int>(decl.number) : binding->number;
    Result<std::shared_ptr<runtime::Device>> device = opener(decl.kind, number);
    if (!device.ok()) return Status(device.status()).with_context(device_text(decl));
    if (is_timed && *device != nullptr)
      if (Status timed = (*device)->enable_timing(); !timed.ok())
        return std::move(timed).with_context(device_text(decl));
    devices_.push_back(*std::move(device));
  }
  return {};
}

Status BoundDevices::load_images(const format::ModuleContents& contents) {
  for (size_t d = 0; d < devices_.size(); ++d) {
    if (devices_[d] == nullptr) continue;
    if (is_remote_[d]) {
      for (size_t k = 0; k < contents.kernels.size(); ++k)
        if (contents.kernels[k].device == d)
          kernels_[k] = {devices_[d].get(),
                         static_cast<const RemoteDevice&>(*devices_[d]).kernel()};
      continue;
    }
    const format::DeviceDecl& decl = contents.devices[d];
    // Without an image, the device is used for memory only.
    if (!contents.has_image(static_cast<uint32_t>(d))) continue;
    const std::string context = device_text(decl);
    const uint32_t abi = devices_[d]->kernel_abi();
    const auto image = std::ranges::find_if(contents.images, [&](const format::ImageDecl& image) {
      return image.is_for(static_cast<uint32_t>(d)) && image.kernel_abi == abi;
    });
    if (image == contents.images.end())
      return {StatusCode::kUnsupported, context + ": no kernel image has kernel ABI " +
                                            std::to_string(abi) +
                                            ": compile the model with this release"};
    Result<std::unique_ptr<runtime::DeviceImage>> loaded =
        devices_[d]->load({image->bytes.data, static_cast<size_t>(image->bytes.size)});
    if (!loaded.ok()) return Status(loaded.status()).with_context(context);
    for (size_t k = 0; k < contents.kernels.size(); ++k) {
      const format::KernelDecl& kernel = contents.kernels[k];
      if (kernel.device != d) continue;
      const runtime::DeviceKernel* function =
          (*loaded)->find(kernel.symbol, static_cast<int>(kernel.buffer_count),
                          static_cast<int>(kernel.param_count));
      if (function == nullptr)
        return {StatusCode::kInvalidModel,
                context + ": the image does not define kernel \"" + kernel.symbol + "\""};
      kernels_[k] = {devices_[d].get(), function};
    }
    images_.push_back(*std::move(loaded));
  }
  return {};
}

Status BoundDevices::copy_constants(const format::ModuleContents& contents) {
  constants_.assign(contents.constants.size(), nullptr);
  // Reserved, so that copy_constant() cannot fail between the allocation of a block and the
  // insertion of its entry.
  blocks_.reserve(contents.constants.size());
  for (size_t d = 0; d < devices_.size(); ++d) {
    if (devices_[d] == nullptr) continue;
    const std::unique_ptr<runtime::DeviceStream> stream = devices_[d]->make_stream();
    Status status = runtime::without_exceptions([&]() -> Status {
      for (size_t i = 0; i < contents.constants.size(); ++i)
        if (const format::PoolDecl& pool = contents.pools[contents.constants[i].pool];
            contents.sharing_device(pool).value_or(pool.device) == d)
          SCOPEVM_RETURN_IF_ERROR(copy_constant(contents.constants[i],
                                                contents.sharing_device(pool).has_value(),
                                                *devices_[d], *stream, &constants_[i]));
      return {};
    });
    // Waits also after a failure, because copies may still read the module's bytes.
    const Status finished = stream->finish();
    if (status.ok()) status = finished;
    if (!status.ok()) return std::move(status).with_context(device_text(contents.devices[d]));
  }
  return {};
}

Status BoundDevices::copy_constant(const format::ConstantDecl& constant, bool is_shared,
                                   runtime::Device& device, runtime::DeviceStream& stream,
                                   void** block) {
  const auto bytes = static_cast<int64_t>(constant.bytes.size);
  *block =
      is_shared ? device.allocate_shared(bytes, format::kMostAlignment) : device.allocate(bytes);
  if (*block == nullptr) {
    SCOPEVM_RETURN_IF_ERROR(device.health());
    return {StatusCode::kOutOfMemory, "cannot allocate " + runtime::bytes_text(bytes) +
                                          " for constant \"" + constant.name + "\" on " +
                                          std::string(device.description())};
  }
  // The block is recorded before the copy, so that the destructor returns it if the copy fails.
  blocks_.push_back({&device, *block, bytes, is_shared});
  if (is_remote(*block)) return {};  // that rank reads it from its own file
  if (is_shared) {
    std::memcpy(*block, constant.bytes.data, constant.bytes.size);
    return {};
  }
  return stream.copy_in(*block, constant.bytes.data, bytes);
}

}  // namespace scopevm::vm
