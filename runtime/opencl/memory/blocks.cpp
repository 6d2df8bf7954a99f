// Reserves address ranges with mmap and maps addresses to OpenCL buffers; see blocks.h.
#include "runtime/opencl/memory/blocks.h"

#include <sys/mman.h>

#include <algorithm>

#include "runtime/count_text.h"

namespace scopevm::runtime::opencl {
namespace {

constexpr int64_t kPage = 4096;

}  // namespace

Blocks::~Blocks() {
  while (!blocks_.empty()) deallocate(blocks_.begin()->second.address);
}

void* Blocks::allocate(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!context_->reserve(bytes)) return nullptr;
  void* address = make(bytes);
  if (address == nullptr) context_->release(bytes);
  return address;
}

void* Blocks::make(int64_t bytes) {
  // Reserve at least one extra byte, so that a block's end differs from the start of the next
  // block.
  const auto reserved = static_cast<size_t>((bytes / kPage + 1) * kPage);
  cl_int error = CL_SUCCESS;
  // OpenCL rejects buffers of 0 bytes.
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  // With CL_MEM_ALLOC_HOST_PTR, devices that share host memory can map the buffer without a copy.
  const cl_mem_flags flags =
      CL_MEM_READ_WRITE | (context_->shares_host_memory ? CL_MEM_ALLOC_HOST_PTR : 0);
  Block block{{context_->api.clCreateBuffer(context_->handle.get(), flags, size, nullptr, &error),
               context_->api.clReleaseMemObject},
              bytes,
              nullptr,
              reserved};
  if (!context_->health.note(error, "clCreateBuffer").ok() || block.buffer.get() == nullptr)
    return nullptr;
  void* address =
      // PROT_NONE reserves address space without memory: an access by the host faults.
      mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return nullptr;
  block.address = address;
  blocks_.emplace(reinterpret_cast<uintptr_t>(address), std::move(block));
  return address;
}

void Blocks::deallocate(void* address) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = blocks_.find(reinterpret_cast<uintptr_t>(address));
  if (found == blocks_.end()) return;
  // Enqueued commands may still use the buffer: OpenCL deletes a memory object after they have
  // finished.
  munmap(address, found->second.reserved);
  context_->release(found->second.bytes);
  blocks_.erase(found);
}

Result<BufferOffset> Blocks::find(const void* address, int64_t bytes) const {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::lock_guard<std::mutex> lock(mutex_);
  // Only the block before `next`, with the largest start at or below the address, can contain it.
  auto next = blocks_.upper_bound(wanted);
  if (next != blocks_.begin()) {
    const auto& [first, block] = *std::prev(next);
    const uint64_t offset = wanted - first;
    const auto size = static_cast<uint64_t>(block.bytes);
    if (offset <= size && bytes >= 0 && static_cast<uint64_t>(bytes) <= size - offset)
      return BufferOffset{block.buffer.get(), offset};
  }
  return Status(StatusCode::kInternal,
                count_text(bytes, "byte") + " at an address in no allocation of the device");
}

}  // namespace scopevm::runtime::opencl
