// Device: a non-CPU device. It allocates the memory of its pools, loads images and creates streams.
// DeviceStream: the launches and copies of one caller.
//
// Addresses: allocate() returns a unique range of process addresses, so that pointer arithmetic
// gives the addresses within a block. The host must not access the range, because it need not be
// mapped to memory.
//
// Order: launches and copies of one device take effect in call order, across all streams. A block
// can be deallocated while work on it is pending, because later uses of the same memory are ordered
// after that work.
//
// Loss: a device is lost after an unrecoverable driver error. The contents of its memory are then
// undefined. Later allocations, loads, launches and copies fail immediately, with the error of
// health() if they return a status. Blocks can still be deallocated. To continue, the caller opens
// the device again.
//
// Thread-safety: all methods of a device can be called concurrently. A stream is used by one thread
// at a time, concurrently with other streams.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "scopevm/status.h"

namespace scopevm::runtime {

// A kernel of a loaded image; owned by the image.
class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;
};

// A loaded image: kernels in the format that the compiler's back end generates for the device kind.
class DeviceImage {
 public:
  virtual ~DeviceImage() = default;
  // Returns null if the image has no such kernel, or one with different argument counts.
  virtual const DeviceKernel* find(std::string_view symbol, int buffers, int params) = 0;
};

// A launch of the work items [0, grid), divided into at most min(workers, ceil(grid / grain))
// ranges.
struct DeviceLaunch {
  const DeviceKernel* kernel = nullptr;
  std::span<void* const> buffers;  // addresses in device memory or shared memory
  std::span<const int64_t> params;
  int64_t grid = 0;
  int64_t grain = 1;
  int64_t workers = 1;
};

// Receives the times at which a device executed commands.
class CommandObserver {
 public:
  virtual ~CommandObserver() = default;
  // `command` is the number that DeviceStream::observe_next() was given. Times of one device do not
  // overlap.
  virtual void executed(uint64_t command, std::chrono::steady_clock::time_point start,
                        std::chrono::steady_clock::time_point end) = 0;
};

// The work of a stream that one of its methods waits for.
enum class StreamWork : uint8_t {
  kRoom,      // what the next launch or copy waits for: most do not wait
  kHostUses,  // what settle() waits for
  kAll,       // what finish() waits for
};

// Learns that work has ended.
class Wakeup {
 public:
  // Must not call methods of devices and streams.
  virtual void wake() noexcept = 0;

 protected:
  ~Wakeup() = default;
};

// An ordered queue of launches and copies. It reports errors of its own work and the device's loss.
// The device must outlive its streams.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;

  // Errors: kDevice, with the driver's name of the error; kInternal (an address is not in a block
  // of the device, or a launch has the wrong number of buffers or params, or a grain or number of
  // workers below 1). An error of a launch or copy can be reported by a later call.
  //
  // copy_in and copy_out are asynchronous. Until settle() or finish() has returned, with any
  // status, the source of copy_in must not be written, and the target of copy_out must not be
  // accessed. The same applies to shared memory (Device::allocate_shared()) that is a buffer of a
  // launch: the host must not access it until then. Later work of the same device is exempt from
  // these rules. After an error, the contents of the target are unspecified. The ranges of a copy
  // must not overlap.
  virtual Status copy_in(void* to, const void* from_host, int64_t bytes) = 0;
  virtual Status copy_out(void* to_host, const void* from, int64_t bytes) = 0;
  virtual Status copy_within(void* to, const void* from, int64_t bytes) = 0;
  virtual Status launch(const DeviceLaunch& launch) = 0;
  // Reports the execution of the next launch or copy to `observer`, as number `command`: on the
  // thread that uses the stream, at the latest in finish(). Nothing is reported for a command that
  // fails or has no work, or if the device does not measure times (Device::enable_timing()).
  virtual void observe_next(CommandObserver& /*observer*/, uint64_t /*command*/) {}
  // Waits for all copies from and to host memory, and for all launches with shared memory.
  virtual Status settle() = 0;
  // Waits for all work of the stream and resets the stream to its initial state.
  virtual Status finish() = 0;
  // For callers that do other work instead of waiting. Calls wakeup.wake() once, when the method
  // that waits for `work` would not wait any more: on any thread, maybe before notify() returns.
  // The caller must not use the stream until then. `bytes` are those of the next copy from or to
  // host memory, for kRoom; 0 for other commands. Returns false, without a call of wake(), if the
  // method would not wait now, or if the device cannot notify. Does not throw.
  virtual bool notify(StreamWork /*work*/, int64_t /*bytes*/, Wakeup& /*wakeup*/) { return false; }
};

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string_view kind() const = 0;         // DeviceDriver::kind()
  virtual std::string_view description() const = 0;  // human-readable name from the driver
  // Ok, or kDevice with the first error that indicated the device's loss.
  virtual Status health() const = 0;

  // The alignment of every block in device memory: a power of two, at least kBlockAlignment.
  virtual int64_t block_alignment() const = 0;
  // Allocates a block of at least `bytes` bytes; 0 bytes also give a block. Returns null if out of
  // memory or if the device is lost.
  virtual void* allocate(int64_t bytes) = 0;
  virtual void deallocate(void* block, int64_t bytes) = 0;

  // Allocates a block of at least `bytes` bytes of pinned host memory, which this device copies
  // from and to without a staging copy. The host can access it. `alignment` is a power of two.
  // Returns null if out of memory or if the device is lost. deallocate_host() REQUIRES that copies
  // from and to the block have ended.
  virtual void* allocate_host(int64_t bytes, int64_t alignment) = 0;
  virtual void deallocate_host(void* block, int64_t bytes) = 0;

  // Whether allocate_shared() is supported.
  virtual bool shares_memory() const { return false; }
  // Allocates a block of at least `bytes` bytes of host memory whose addresses launches of this
  // device can take as buffers. The host can access it too. Copies treat it as host memory.
  // `alignment` is a power of two. Returns null if out of memory, if the device is lost, or without
  // shares_memory(). deallocate_shared() REQUIRES that launches and copies with the block have
  // ended.
  virtual void* allocate_shared(int64_t /*bytes*/, int64_t /*alignment*/) { return nullptr; }
  virtual void deallocate_shared(void* /*block*/, int64_t /*bytes*/) {}

  // The calling convention of the kernels in images that load() accepts.
  virtual uint32_t kernel_abi() const { return 1; }
  // Loads an image. Errors: kInvalidModel (the driver rejects the image; the message has the build
  // log), kDevice (the driver failed).
  virtual Result<std::unique_ptr<DeviceImage>> load(std::span<const uint8_t> image) = 0;

  // Lets streams measure the execution of observed commands, if the device can. REQUIRES: called
  // before all other methods that have an effect. Errors: kDevice.
  virtual Status enable_timing() { return {}; }
  virtual std::unique_ptr<DeviceStream> make_stream() = 0;
};

}  // namespace scopevm::runtime
