// Values of states in memory of other ranks. Rank 0 has their addresses (remote_memory.h), and lets
// the rank of an address allocate, copy and release the bytes. Each function of rank 0 that does
// this is a request, and returns the error of the other rank.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm::runtime {
class Storage;
}

namespace scopevm::vm {

class BoundSession;
class RankChannel;

// Owns one reference.
struct StorageRelease {
  void operator()(runtime::Storage* storage) const;
};
using StorageOwner = std::unique_ptr<runtime::Storage, StorageRelease>;

// Allocates a storage for a state, with one reference: in memory of this process, or zeros in that
// of another rank. Errors: those of BoundSession::allocate_held(), also of the other rank.
Result<runtime::Storage*> allocate_state(const std::shared_ptr<BoundSession>& session,
                                         uint32_t pool, int64_t bytes);
// Copies the elements of `from` to `to`, which have the same size: within a process, or from or to
// another rank. An empty `from` stands for zeros.
Status copy_state(BoundSession& session, const Tensor& from, const Tensor& to);

// The numbers at the beginning of what rank 0 sends: what the others are to do.
enum class RankTask : int64_t {
  kCall,  // the shapes of the inputs
  // A change of memory: the rank, the pool or the address of the source, the address of the target,
  // and the bytes. Where an address is missing, the bytes are transferred from or to rank 0.
  kAllocate,
  kClear,
  kCopy,
};
// The error of other numbers: kDevice.
Status invalid_task();

// On another rank: the values of states in its memory, by address. Thread-safe.
class StateBlocks {
 public:
  // `session` must outlive the blocks.
  explicit StateBlocks(BoundSession& session) : session_(session) {}

  void release(std::span<const int64_t> addresses);
  // Runs a task other than kCall, of this rank or another one. `numbers` are those after the task.
  Status run(RankTask task, std::span<const int64_t> numbers, RankChannel& channel);
  // The storage of an address of this rank, which rank 0 does not release before the end of a
  // request that uses it; null if there is none.
  runtime::Storage* find(int64_t address) const;

 private:
  BoundSession& session_;
  mutable std::mutex mutex_;
  std::map<int64_t, StorageOwner> blocks_;
};

}  // namespace scopevm::vm
