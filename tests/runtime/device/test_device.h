// Shared by the tests of devices: a test kernel, and blocks of host and device memory.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/device/device.h"
#include "scopevm/allocator.h"

namespace scopevm::testing {

// add_at(in, out; amount): out[i] = in[i] + amount, out[grid + i] = index of the worker.
inline constexpr std::string_view kKernelText = R"(
__kernel void add_at(__global uchar* b0, ulong o0, __global uchar* b1, ulong o1, long p0, long grid,
                     long per_item) {
  __global const int* in = (__global const int*)(b0 + o0);
  __global int* out = (__global int*)(b1 + o1);
  long worker = (long)get_global_id(0);
  long end = min(grid, (worker + 1) * per_item);
  for (long i = worker * per_item; i < end; ++i) {
    out[i] = in[i] + (int)p0;
    out[grid + i] = (int)worker;
  }
}
)";

inline std::span<const uint8_t> as_image(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// `count` numbers in host memory that the device allocated.
class TestHostBlock {
 public:
  TestHostBlock(runtime::Device& device, int64_t count)
      : device_(device), count_(count), address_(device.allocate_host(bytes(), kBlockAlignment)) {}
  TestHostBlock(const TestHostBlock&) = delete;
  TestHostBlock& operator=(const TestHostBlock&) = delete;
  ~TestHostBlock() {
    if (address_ != nullptr) device_.deallocate_host(address_, bytes());
  }

  void* address() const { return address_; }
  int64_t bytes() const { return count_ * static_cast<int64_t>(sizeof(int32_t)); }
  std::span<int32_t> numbers() const {
    return {static_cast<int32_t*>(address_), static_cast<size_t>(count_)};
  }

 private:
  runtime::Device& device_;
  const int64_t count_;
  void* const address_;
};

// `count` numbers in device memory, and a stream to write and read them.
class TestBlock {
 public:
  TestBlock(runtime::Device& device, int64_t count)
      : device_(device), stream_(device.make_stream()), count_(count) {
    address_ = device.allocate(bytes());
  }
  TestBlock(const TestBlock&) = delete;
  TestBlock& operator=(const TestBlock&) = delete;
  ~TestBlock() {
    if (address_ != nullptr) device_.deallocate(address_, bytes());
  }

  void* address() const { return address_; }
  int64_t bytes() const { return count_ * static_cast<int64_t>(sizeof(int32_t)); }
  Status write(const std::vector<int32_t>& values) {
    return settled(stream_->copy_in(address_, values.data(), bytes()));
  }
  Result<std::vector<int32_t>> read() {
    std::vector<int32_t> values(static_cast<size_t>(count_));
    SCOPEVM_RETURN_IF_ERROR(settled(stream_->copy_out(values.data(), address_, bytes())));
    return values;
  }

 private:
  // Waits for the copy, even if its submission failed.
  Status settled(Status copied) {
    Status settled = stream_->settle();
    return copied.ok() ? settled : copied;
  }

  runtime::Device& device_;
  std::unique_ptr<runtime::DeviceStream> stream_;
  int64_t count_;
  void* address_ = nullptr;
};

}  // namespace scopevm::testing
