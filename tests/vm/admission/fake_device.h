// A device whose commands end in a random order across streams, on a thread of its own. A copy
// within the device adds 1 to each byte, so that results show the order of the commands.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/device/device.h"
#include "scopevm/allocator.h"

namespace scopevm::test {

class FakeDevice final : public runtime::Device {
 public:
  // `is_running`: whether commands execute before run() is called.
  FakeDevice(uint32_t seed, bool is_running) : is_running_(is_running), random_(seed) {
    thread_ = std::thread([this] { execute_all(); });
  }
  ~FakeDevice() override {
    {
      std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // Commands are executed from now on.
  void run() {
    std::lock_guard lock(mutex_);
    is_running_ = true;
    changed_.notify_all();
  }
  // Calls of streams that blocked their thread.
  int64_t blocked() const { return blocked_; }
  // Waits that ended with a call of Wakeup::wake().
  int64_t woken() const { return woken_; }
  int64_t live_bytes() const { return live_bytes_; }

  std::string_view kind() const override { return "opencl"; }
  std::string_view description() const override { return "fake"; }
  Status health() const override { return {}; }
  int64_t block_alignment() const override { return kBlockAlignment; }
  void* allocate(int64_t bytes) override { return allocate_host(bytes, kBlockAlignment); }
  void deallocate(void* block, int64_t bytes) override { deallocate_host(block, bytes); }
  void* allocate_host(int64_t bytes, int64_t alignment) override {
    live_bytes_ += bytes;
    const auto step = static_cast<size_t>(alignment);
    return std::aligned_alloc(step, (static_cast<size_t>(bytes) + step) / step * step);
  }
  void deallocate_host(void* block, int64_t bytes) override {
    live_bytes_ -= bytes;
    std::free(block);
  }
  Result<std::unique_ptr<runtime::DeviceImage>> load(std::span<const uint8_t>) override {
    return Status(StatusCode::kUnsupported, "the fake device has no kernels");
  }
  std::unique_ptr<runtime::DeviceStream> make_stream() override;

 private:
  class Stream;
  struct Command {
    std::byte* to;
    const std::byte* from;
    int64_t bytes;
    int added;
    bool uses_host;
    void execute() const {
      std::memmove(to, from, static_cast<size_t>(bytes));
      for (int64_t i = 0; i < bytes; ++i) to[i] = std::byte(static_cast<int>(to[i]) + added);
    }
  };

  void execute_all();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_running_;
  bool is_stopping_ = false;
  std::vector<Stream*> busy_;  // streams with commands
  std::mt19937 random_;
  std::atomic<int64_t> blocked_ = 0, woken_ = 0, live_bytes_ = 0;
  std::thread thread_;
};

class FakeDevice::Stream final : public runtime::DeviceStream {
 public:
  explicit Stream(FakeDevice& device) : device_(device) {}

  Status copy_in(void* to, const void* from, int64_t bytes) override {
    return enqueue(to, from, bytes, 0, true);
  }
  Status copy_out(void* to, const void* from, int64_t bytes) override {
    return enqueue(to, from, bytes, 0, true);
  }
  Status copy_within(void* to, const void* from, int64_t bytes) override {
    return enqueue(to, from, bytes, 1, false);
  }
  Status launch(const runtime::DeviceLaunch&) override { return {}; }
  Status settle() override { return wait(runtime::StreamWork::kHostUses); }
  Status finish() override { return wait(runtime::StreamWork::kAll); }
  bool notify(runtime::StreamWork work, int64_t, runtime::Wakeup& wakeup) override {
    {
      std::lock_guard lock(device_.mutex_);
      if (has_ended(work)) return false;
      // Sometimes the command has ended when the function is set.
      if (device_.is_running_ && device_.random_() % 4 == 0)
        execute_until(work);
      else
        waiter_ = {work, &wakeup};
      if (waiter_) return true;
    }
    ++device_.woken_;
    wakeup.wake();
    return true;
  }

 private:
  friend class FakeDevice;
  static constexpr size_t kRoom = 3;
  struct Waiter {
    runtime::StreamWork work;
    runtime::Wakeup* wakeup;
  };

  // The functions below need the mutex of the device.
  bool has_ended(runtime::StreamWork work) const {
    if (work == runtime::StreamWork::kRoom) return commands_.size() < kRoom;
    if (work == runtime::StreamWork::kAll) return commands_.empty();
    for (const Command& command : commands_)
      if (command.uses_host) return false;
    return true;
  }
  void execute_first() {
    commands_.front().execute();
    commands_.pop_front();
    if (commands_.empty()) std::erase(device_.busy_, this);
  }
  void execute_until(runtime::StreamWork work) {
    while (!has_ended(work)) execute_first();
  }
  // The waiter whose work has ended, if any.
  runtime::Wakeup* take_woken() {
    if (!waiter_ || !has_ended(waiter_->work)) return nullptr;
    return std::exchange(waiter_, std::nullopt)->wakeup;
  }

  Status wait(runtime::StreamWork work) {
    std::unique_lock lock(device_.mutex_);
    if (has_ended(work)) return {};
    ++device_.blocked_;
    device_.changed_.wait(lock, [&] { return has_ended(work); });
    return {};
  }
  Status enqueue(void* to, const void* from, int64_t bytes, int added, bool uses_host) {
    (void)wait(runtime::StreamWork::kRoom);
    std::lock_guard lock(device_.mutex_);
    commands_.push_back({static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes,
                         added, uses_host});
    if (commands_.size() == 1) device_.busy_.push_back(this);
    device_.changed_.notify_all();
    return {};
  }

  FakeDevice& device_;
  std::deque<Command> commands_;
  std::optional<Waiter> waiter_;
};

inline std::unique_ptr<runtime::DeviceStream> FakeDevice::make_stream() {
  return std::make_unique<Stream>(*this);
}

inline void FakeDevice::execute_all() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_stopping_ || (is_running_ && !busy_.empty()); });
    if (busy_.empty() || !is_running_) return;
    Stream& stream = *busy_[random_() % busy_.size()];
    stream.execute_first();
    runtime::Wakeup* const woken = stream.take_woken();
    changed_.notify_all();
    if (woken == nullptr) continue;
    lock.unlock();
    ++woken_;
    woken->wake();
    lock.lock();
  }
}

}  // namespace scopevm::test
