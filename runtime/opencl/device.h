// Implements runtime::Device with OpenCL; see runtime/device/device.h and docs/opencl.md.
#pragma once

#include <memory>
#include <utility>

#include "runtime/device/device.h"
#include "runtime/opencl/memory/blocks.h"
#include "runtime/opencl/memory/host_blocks.h"
#include "runtime/opencl/memory/shared_blocks.h"
#include "runtime/opencl/opencl.h"

namespace scopevm::runtime::opencl {

class OpenClDevice final : public Device {
 public:
  explicit OpenClDevice(std::shared_ptr<Session> session)
      : session_(std::move(session)),
        context_(*session_->context),
        blocks_(session_->context),
        host_blocks_(session_),
        shared_blocks_(session_->context) {}
  ~OpenClDevice() override;

  std::string_view kind() const override { return kKind; }
  std::string_view description() const override { return context_.description; }
  Status health() const override { return context_.health.status(); }
  int64_t block_alignment() const override { return context_.block_alignment; }
  void* allocate(int64_t bytes) override;
  void deallocate(void* block, int64_t) override { blocks_.deallocate(block); }
  void* allocate_host(int64_t bytes, int64_t alignment) override;
  void deallocate_host(void* block, int64_t) override { host_blocks_.deallocate(block); }
  bool shares_memory() const override { return context_.shares_allocations; }
  void* allocate_shared(int64_t bytes, int64_t alignment) override;
  void deallocate_shared(void* block, int64_t) override { shared_blocks_.deallocate(block); }
  Result<std::unique_ptr<DeviceImage>> load(std::span<const uint8_t> image) override;
  Status enable_timing() override;
  std::unique_ptr<DeviceStream> make_stream() override;

 private:
  std::shared_ptr<Session> session_;
  const Context& context_;
  Blocks blocks_;
  HostBlocks host_blocks_;
  SharedBlocks shared_blocks_;
};

}  // namespace scopevm::runtime::opencl
