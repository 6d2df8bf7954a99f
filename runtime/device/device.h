// Device: what launches kernels beside the host's own CPU, and where the storages of its pools lie.
// DeviceStream: the work that one caller asks of it.
//
// Addresses: allocate() gives a range of addresses that no other memory of the process has, so that
// offsets into a block are plain pointer arithmetic. What lies there is the device's: the host
// neither reads nor writes it (a device may keep the range inaccessible).
//
// Order: launches and copies of one device take effect in the order in which they were called,
// whichever stream they are of. A block may be given back while work on it is pending: what
// allocate() gives next is used behind that work.
//
// Loss: a device may be lost, and with it what lies in its memory. From then on every call answers
// at once with the error of health(), until the device is opened anew; blocks can be given back.
//
// Thread-safety: every method of a device may be called by any thread at any time. A stream is used
// by one thread at a time, beside any other stream.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "scopevm/status.h"

namespace scopevm::runtime {

// A kernel of a loaded image. Lives as long as its image.
class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;
};

// Kernels in the form that one kind of device loads, as the compiler's back end of the kind made
// them.
class DeviceImage {
 public:
  virtual ~DeviceImage() = default;
  // Null when the image has no such kernel, or one that takes other counts.
  virtual const DeviceKernel* find(std::string_view symbol, int buffers, int params) = 0;
};

// One launch: work items [0, grid) in parts of at least `grain`, spread over at most `workers`.
struct DeviceLaunch {
  const DeviceKernel* kernel = nullptr;
  std::span<void* const> buffers;  // addresses of the device
  std::span<const int64_t> params;
  int64_t grid = 0;
  int64_t grain = 1;
  int64_t workers = 1;
};

// The launches and copies of one caller, in order. Errors that it tells are those of its own work,
// or the device's loss. Lives no longer than its device.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;

  // Errors: kDevice, with the driver's name for the error; kInternal for addresses that are not the
  // device's. An error of a launch or of a copy may be told by a later call.
  //
  // A copy from or to the host's memory may be under way when the call returns: until settle() or
  // finish() has returned, with whatever status, nobody writes what copy_in reads, nor touches what
  // copy_out writes, but later copies of the same device. After an error, what copy_out wrote is
  // not to be read. Ranges of a copy do not overlap.
  virtual Status copy_in(void* to, const void* from_host, int64_t bytes) = 0;
  virtual Status copy_out(void* to_host, const void* from, int64_t bytes) = 0;
  virtual Status copy_within(void* to, const void* from, int64_t bytes) = 0;
  virtual Status launch(const DeviceLaunch& launch) = 0;
  // Waits until the copies from and to the host's memory have ended.
  virtual Status settle() = 0;
  // Waits until all work of the stream has ended. Afterwards the stream is as new.
  virtual Status finish() = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string_view kind() const = 0;         // as of its DeviceDriver
  virtual std::string_view description() const = 0;  // as its driver calls it, for people
  // Ok, or kDevice with what was seen first of the device's loss.
  virtual Status health() const = 0;

  // At which multiples of bytes of its own memory every block begins: a power of two, at least
  // kBlockAlignment.
  virtual int64_t block_alignment() const = 0;
  // A block of at least `bytes`; null when there is no room, or the device is lost. For 0 bytes: a
  // block as well.
  virtual void* allocate(int64_t bytes) = 0;
  virtual void deallocate(void* block, int64_t bytes) = 0;

  // A block of at least `bytes` of the host's memory that this device copies from and to without a
  // way round (pinned), for the host to read and write, at a multiple of `alignment`, a power of
  // two. Null when there is no room, or the device is lost. REQUIRES of deallocate_host: its copies
  // have ended.
  virtual void* allocate_host(int64_t bytes, int64_t alignment) = 0;
  virtual void deallocate_host(void* block, int64_t bytes) = 0;

  // Errors: kInvalidModel with the driver's build log, kDevice when the driver fails.
  virtual Result<std::unique_ptr<DeviceImage>> load(std::span<const uint8_t> image) = 0;

  virtual std::unique_ptr<DeviceStream> make_stream() = 0;
};

}  // namespace scopevm::runtime
