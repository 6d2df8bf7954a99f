// Implements the "toy" driver with host memory and the kernel images of the CPU.
#include "tests/codegen/third_kind/toy_driver.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>

#include "runtime/cpu/kernel_image.h"
#include "scopevm/allocator.h"
#include "scopevm/kernel_abi.h"

namespace scopevm::testing {
namespace {

std::atomic<int64_t> g_launches = 0;

struct ToyKernel final : runtime::DeviceKernel {
  explicit ToyKernel(KernelFn function) : function(function) {}
  const KernelFn function;
};

class ToyImage final : public runtime::DeviceImage {
 public:
  explicit ToyImage(runtime::KernelImage image) : image_(std::move(image)) {}
  const runtime::DeviceKernel* find(std::string_view symbol, int, int) override {
    auto function = reinterpret_cast<KernelFn>(image_.symbol(std::string(symbol)));
    if (function == nullptr) return nullptr;
    return &kernels_.try_emplace(std::string(symbol), function).first->second;
  }

 private:
  runtime::KernelImage image_;
  std::map<std::string, ToyKernel> kernels_;
};

class ToyStream final : public runtime::DeviceStream {
 public:
  Status copy_in(void* to, const void* from, int64_t bytes) override {
    return copy_within(to, from, bytes);
  }
  Status copy_out(void* to, const void* from, int64_t bytes) override {
    return copy_within(to, from, bytes);
  }
  Status copy_within(void* to, const void* from, int64_t bytes) override {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return {};
  }
  Status launch(const runtime::DeviceLaunch& launch) override {
    ++g_launches;
    const auto& kernel = static_cast<const ToyKernel&>(*launch.kernel);
    kernel.function(launch.buffers.data(), launch.params.data(), 0, launch.grid, 0, 0);
    return {};
  }
  Status settle() override { return {}; }
  Status finish() override { return {}; }
};

class ToyDevice final : public runtime::Device {
 public:
  std::string_view kind() const override { return "toy"; }
  std::string_view description() const override { return "Toy (1 unit)"; }
  Status health() const override { return {}; }
  int64_t block_alignment() const override { return kBlockAlignment; }
  void* allocate(int64_t bytes) override { return allocate_host(bytes, kBlockAlignment); }
  void deallocate(void* block, int64_t) override { std::free(block); }
  void* allocate_host(int64_t bytes, int64_t alignment) override {
    const auto step = static_cast<size_t>(alignment);
    return std::aligned_alloc(step, (static_cast<size_t>(bytes) + step) / step * step);
  }
  void deallocate_host(void* block, int64_t) override { std::free(block); }
  Result<std::unique_ptr<runtime::DeviceImage>> load(std::span<const uint8_t> bytes) override {
    SCOPEVM_ASSIGN_OR_RETURN(runtime::KernelImage image, runtime::KernelImage::load(bytes, "toy"));
    return std::unique_ptr<runtime::DeviceImage>(std::make_unique<ToyImage>(std::move(image)));
  }
  std::unique_ptr<runtime::DeviceStream> make_stream() override {
    return std::make_unique<ToyStream>();
  }
};

class ToyDriver final : public runtime::DeviceDriver {
 public:
  std::string_view kind() const override { return "toy"; }
  std::string_view title() const override { return "toys"; }
  Result<std::vector<runtime::ListedDevice>> list() const override {
    return std::vector<runtime::ListedDevice>{
        {.name = "toy0",
         .summary = "Toy (1 unit), " + runtime::gigabytes_text(1 << 30),
         .workers = 1,
         .memory_bytes = 1 << 30}};
  }
  Result<std::shared_ptr<runtime::Device>> open(int number) const override {
    if (number != 0)
      return Status(StatusCode::kNotFound,
                    "no toy device " + std::to_string(number) + "; the only one is 0");
    return std::shared_ptr<runtime::Device>(std::make_shared<ToyDevice>());
  }
};

}  // namespace

const runtime::DeviceDriver& toy_driver() {
  static const ToyDriver driver;
  return driver;
}

int64_t toy_launches() { return g_launches; }

}  // namespace scopevm::testing
