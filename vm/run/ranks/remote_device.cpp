// See remote_device.h.
#include "vm/run/ranks/remote_device.h"

#include "vm/format/schema/module_contents.h"
#include "vm/run/ranks/remote_memory.h"

namespace scopevm::vm {
RemoteDevice::RemoteDevice(RankGroup& group, int rank, std::string kind)
    : group_(group),
      rank_(rank),
      kind_(std::move(kind)),
      description_("device of rank " + std::to_string(rank)) {}

int64_t RemoteDevice::block_alignment() const { return format::kMostAlignment; }

void* RemoteDevice::allocate(int64_t bytes) {
  // The end of a block differs from the start of the next one.
  const uint64_t size =
      (static_cast<uint64_t>(bytes) / format::kMostAlignment + 1) * format::kMostAlignment;
  return remote_address(rank_, group_.new_offset(size));
}

void RemoteDevice::deallocate(void*, int64_t) {}

void* RemoteDevice::allocate_host(int64_t, int64_t) { return nullptr; }

void RemoteDevice::deallocate_host(void*, int64_t) {}

Result<std::unique_ptr<runtime::DeviceImage>> RemoteDevice::load(std::span<const uint8_t>) {
  return Status(StatusCode::kInternal, description_ + ": its kernels are loaded there");
}

std::unique_ptr<runtime::DeviceStream> RemoteDevice::make_stream() {
  return std::make_unique<RemoteStream>(rank_);
}

}  // namespace scopevm::vm
