// RankGroup: the ranks of a job, as one of their sessions sees them. All ranks execute the
// instructions of a request in the same order. Each computes only what is on its own devices; a
// copy between devices of two ranks is a message from one to the other. docs/ranks.md describes the
// protocol, and docs/decisions/0029-ranks.md why it cannot deadlock.
//
// Each request uses a channel (rank_channel.h), so that several can run at the same time: each part
// of a pipeline then works on another request.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "scopevm/allocator.h"
#include "scopevm/c/transport.h"
#include "scopevm/status.h"
#include "vm/run/ranks/rank_channel.h"
#include "vm/run/ranks/shared_transport.h"

namespace scopevm::vm {

// Thread-safe.
class RankGroup {
 public:
  // Waits until all ranks have called this. `transport` must outlive the group. Errors:
  // kInvalidArgument (the transport has another number of ranks than the module, or another
  // version; a rank has another module), kDevice (the transport failed).
  static Result<std::unique_ptr<RankGroup>> create(const scopevm_transport* transport, int ranks,
                                                   uint64_t digest);
  // On rank 0, ends the sessions of the others. Waits at most a second for ranks that do not
  // follow. REQUIRES: no channel has a request.
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  int rank() const { return transport_.c().rank; }
  int size() const { return transport_.c().ranks; }
  bool is_leader() const { return rank() == 0; }
  SharedTransport& transport() { return transport_; }
  // Memory of this rank from which messages take less time; null: there is none.
  std::shared_ptr<BlockSource> message_memory() const;

  // The error after which no request can run, if there was one.
  Status health() const;
  bool has_failed() const { return has_failed_.load(std::memory_order_relaxed); }
  // No request can run from now on: the transport has failed, or another error. Returns health().
  Status fail();
  Status fail(Status status);

  // The most requests at a time.
  size_t channels() const { return channels_.size(); }
  RankChannel& channel(size_t index) { return *channels_[index]; }
  // On rank 0: takes a channel for the next request. Null if each has a request.
  RankChannel* try_take_channel();
  // Waits for one. Errors: those of `check_interrupts`.
  Result<RankChannel*> take_channel(const std::function<Status()>& check_interrupts);
  void return_channel(RankChannel& channel);

  // Whether a thread that waits can use a CPU: this rank has no more requests than CPUs.
  bool has_idle_cpu() const { return active_requests_.load(std::memory_order_relaxed) <= cpus_; }
  void count_request(int change) { active_requests_.fetch_add(change, std::memory_order_relaxed); }

  // On rank 0: the address of memory of another rank is not used any more. The others are sent it
  // with the next request. Does not throw. REQUIRES: reserve_release() was called once for it.
  void release(int64_t address);
  void reserve_release();
  // The number of released addresses, these, and `numbers`.
  std::vector<int64_t> with_released(std::span<const int64_t> numbers);
  // The offset of `bytes` new bytes in the addresses of other ranks (remote_memory.h).
  uint64_t new_offset(uint64_t bytes) {
    return next_offset_.fetch_add(bytes, std::memory_order_relaxed);
  }

 private:
  explicit RankGroup(const scopevm_transport& transport);

  SharedTransport transport_;
  mutable std::mutex health_mutex_;
  Status health_;
  std::atomic<bool> has_failed_{false};  // health() is not ok
  std::atomic<uint64_t> next_offset_{0};
  std::mutex released_mutex_;
  std::vector<int64_t> released_;  // has capacity for all that will be
  size_t to_release_ = 0;
  std::vector<std::unique_ptr<RankChannel>> channels_;
  const int cpus_;                       // that the process can use
  std::atomic<int> active_requests_{0};  // those that have begun on this rank and not ended
  std::mutex free_mutex_;
  std::condition_variable is_free_;
  // The channel that was used last comes first.
  std::vector<RankChannel*> free_;
};

}  // namespace scopevm::vm
