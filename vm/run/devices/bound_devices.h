// The non-CPU devices of a session, and those of other ranks: the open devices, the module's
// kernels for them, and the constants in their memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "scopevm/allocator.h"
#include "scopevm/session.h"
#include "vm/load/loaded_module.h"
#include "vm/run/ranks/rank_group.h"

namespace scopevm::vm {

// Opens a device of this machine, by its kind and its ordinal among devices of the kind.
using DeviceOpener =
    std::function<Result<std::shared_ptr<runtime::Device>>(const std::string& kind, int number)>;

// The opener that uses the drivers of this build. Errors: those of runtime::Drivers::open.
Result<std::shared_ptr<runtime::Device>> open_device(const std::string& kind, int number);

class BoundDevices {
 public:
  struct Kernel {
    runtime::Device* device = nullptr;  // null for a kernel of a CPU of this rank
    const runtime::DeviceKernel* function = nullptr;
  };

  BoundDevices() = default;
  ~BoundDevices();
  BoundDevices(const BoundDevices&) = delete;
  BoundDevices& operator=(const BoundDevices&) = delete;

  // Checks the bindings, opens the module's non-CPU devices, with timing if `is_timed`, loads its
  // images for them, and copies the constants of their pools. With `ranks`, which can be null, the
  // devices of other ranks are RemoteDevices. Errors: kInvalidArgument (a binding
  // for a device that the module lacks or of another kind), kInvalidModel (an image lacks a
  // kernel), kUnsupported (a pool requires memory that the host and a device share), kOutOfMemory,
  // and those of `opener` and of the devices.
  Status open(const LoadedModule& module, const std::vector<DeviceBinding>& bindings, bool is_timed,
              const DeviceOpener& opener, RankGroup* ranks);

  bool are_all_cpus() const;
  // One stream per device, by the module's index; null for a CPU. Empty if all devices are CPUs.
  std::vector<std::unique_ptr<runtime::DeviceStream>> make_streams() const;
  // The device with this index in the module; null for a CPU of this rank.
  const std::shared_ptr<runtime::Device>& device(uint32_t index) const { return devices_[index]; }
  // The device of the pool; null for a CPU of this rank.
  runtime::Device* of_pool(uint32_t pool) const { return by_pool_[pool]; }
  // What supplies the blocks of the pool: a driver or a transport; null: the operating system.
  std::shared_ptr<BlockSource> block_source(const format::ModuleContents& contents,
                                            const format::PoolDecl& pool) const;
  const Kernel& kernel(uint32_t index) const { return kernels_[index]; }
  // The address of a constant in device memory or shared memory; null if it is used in place, in
  // the module.
  void* constant(uint32_t index) const { return constants_.empty() ? nullptr : constants_[index]; }

 private:
  Status check_sharing(const format::ModuleContents& contents) const;
  Status open_devices(const format::ModuleContents& contents,
                      const std::vector<DeviceBinding>& bindings, bool is_timed,
                      const DeviceOpener& opener, RankGroup* ranks);
  Status load_images(const format::ModuleContents& contents);
  Status copy_constants(const format::ModuleContents& contents);
  Status copy_constant(const format::ConstantDecl& constant, bool is_shared,
                       runtime::Device& device, runtime::DeviceStream& stream, void** block);

  std::vector<std::shared_ptr<runtime::Device>> devices_;  // by the module's index
  std::vector<bool> is_remote_;                            // by the module's index
  std::vector<runtime::Device*> by_pool_;
  std::shared_ptr<BlockSource> message_memory_;  // RankGroup::message_memory()
  std::vector<std::unique_ptr<runtime::DeviceImage>> images_;
  std::vector<Kernel> kernels_;
  std::vector<void*> constants_;
  struct Block {
    runtime::Device* device;
    void* data;
    int64_t bytes;
    bool is_shared;
  };
  std::vector<Block> blocks_;
};

}  // namespace scopevm::vm
