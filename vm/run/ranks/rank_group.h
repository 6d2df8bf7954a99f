// RankGroup: the ranks of a job, as one of their sessions sees them. All ranks execute the same
// instructions in the same order. Each computes only what is on its own devices; a copy between
// devices of two ranks is a message from one to the other. docs/ranks.md describes the protocol,
// and docs/decisions/0029-ranks.md why it cannot deadlock.
//
// Rank 0 begins a request by sending the shapes of the inputs, or what to do with the memory of
// states, to the others. At the end of the request, they report its outcome to rank 0. If a rank
// fails, rank 0 aborts the request on all of them, and each receives what was sent to it, so that
// the next request finds no old message. Rank 0 waits until all have done so: a receive that was
// started before could take a later message.
//
// Thread-safety: on rank 0, take_turn() waits for the end of the request of another thread. From
// then to end(), one thread at a time uses the group. On the others, next_request() and the
// functions of its request are called by one thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <span>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "scopevm/allocator.h"
#include "scopevm/c/transport.h"
#include "scopevm/status.h"
#include "vm/run/ranks/control_message.h"

namespace scopevm::vm {

// Receives the time of a transfer, if it is not null.
struct TransferObserver {
  runtime::CommandObserver* observer = nullptr;
  uint64_t command = 0;
};

class RankGroup {
 public:
  // Waits until all ranks have called this. `transport` must outlive the group. Errors:
  // kInvalidArgument (the transport has another number of ranks than the module, or another
  // version; a rank has another module), kDevice (the transport failed).
  static Result<std::unique_ptr<RankGroup>> create(const scopevm_transport* transport, int ranks,
                                                   uint64_t digest);
  // On rank 0, ends next_request() of the others. Waits at most a second for ranks that do not call
  // it.
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  int rank() const { return transport_.rank; }
  int size() const { return transport_.ranks; }
  bool is_leader() const { return rank() == 0; }
  // The error after which no request can run, if there was one.
  Status health() const;
  // Memory of this rank from which messages take less time; null: there is none.
  std::shared_ptr<BlockSource> message_memory() const;

  // On rank 0: takes the right to begin the next request, unless another request has it. Does not
  // wait.
  bool try_take_turn() { return turn_.try_acquire(); }
  // Waits for it. Errors: those of `check_interrupts`.
  Status take_turn(const std::function<Status()>& check_interrupts);
  // Begins the request and sends `numbers` to the others, where next_request() begins it. Waits
  // call `check_interrupts`, and fail with its error. After an error, end() must not be called.
  // Errors: health(), those of `check_interrupts`. REQUIRES: take_turn(). An error, or end(),
  // releases it.
  Status begin(std::span<const int64_t> numbers, std::function<Status()> check_interrupts);
  // The memory of the request in a pool of this rank.
  struct PoolUse {
    int64_t peak_bytes = 0;
    int64_t allocations = 0;
  };
  // Ends the request with the status of this rank, and returns that of the job: an error if any
  // rank failed. `uses` has an element for each pool, or none after an error. On rank 0, it
  // receives those of the ranks in `rank_of_pool`. Does not throw: if memory is exhausted, no
  // request can run after this one.
  Status end(Status status, std::span<PoolUse> uses, std::span<const int> rank_of_pool);

  // On another rank than 0: whether a request has begun and not ended.
  bool is_active() const { return is_active_; }

  // Transfers of the request, which start now, or after the ones that access the same bytes. The
  // bytes must not be written (send) or accessed (receive) until settle() or end() has returned, or
  // accesses() is false.
  Status send(int to, const void* data, int64_t bytes, TransferObserver observer = {});
  Status receive(int from, void* data, int64_t bytes, TransferObserver observer = {});
  // Whether a transfer that has not ended conflicts with an access to the bytes. Lets the transfers
  // proceed; settle() returns their errors.
  bool accesses(const void* data, int64_t bytes, bool is_write);
  // Waits for all transfers. Errors: those of the transport and of other ranks, interrupts.
  Status settle();
  // Whether settle() would wait now, after a moment in which most messages arrive. Lets the
  // transfers proceed.
  bool is_waiting();
  // Every rank calls this. `value` of rank `owner` is assigned to those of the others, before the
  // next settle() returns.
  Status share(int owner, int64_t& value);

  // On rank 0: the address of memory of another rank is not used any more. The others are sent it
  // with the next request. Thread-safe; does not throw. REQUIRES: reserve_release() was called once
  // for it.
  void release(int64_t address);
  void reserve_release();
  // The offset of `bytes` new bytes in the addresses of other ranks (remote_memory.h). Thread-safe.
  uint64_t new_offset(uint64_t bytes) {
    return next_offset_.fetch_add(bytes, std::memory_order_relaxed);
  }

  // On the other ranks: waits for a request of rank 0. No value: rank 0 has ended its session.
  // Errors: health().
  struct Begun {
    std::vector<int64_t> released;  // addresses
    std::vector<int64_t> numbers;
  };
  Result<std::optional<Begun>> next_request();

 private:
  enum Tag : int { kControl = 1, kData = 2 };

  struct Transfer {
    void* operation;
    int peer;
    bool is_receive;
    const std::byte* begin;
    const std::byte* end;
    std::chrono::steady_clock::time_point started;
    TransferObserver observer;

    bool conflicts(const void* data, int64_t bytes, bool is_write) const;
  };
  struct Outgoing {
    std::string bytes;
    void* operation = nullptr;
  };
  struct Outcome {
    bool is_known = false;
    bool is_drained = false;
    ControlMessage message = {};
  };

  explicit RankGroup(const scopevm_transport& transport);
  Status greet(uint64_t digest);
  Status fail();  // the transport has failed
  Status transfer(int peer, void* data, int64_t bytes, bool is_receive, TransferObserver observer);
  Status start_transfer(int peer, std::byte* data, int64_t bytes, bool is_receive,
                        TransferObserver observer = {});
  void report(const Transfer& ended);
  // Releases the transfers and messages that have ended.
  Status test_operations();
  // Calls `is_done`, which returns a Result<bool>, until it returns true. Meanwhile handles the
  // messages of other ranks.
  template <typename Done>
  Status wait(Done is_done);
  // Starts to send. The group owns the bytes until then.
  Status send_control(int to, const ControlMessage& message);
  Result<std::optional<ControlMessage>> take_control(int from);
  Status handle_messages();
  void handle(int from, ControlMessage message);
  Status abort_others();
  Status lead_end(std::span<PoolUse> uses, std::span<const int> rank_of_pool);
  Status follow_end(const Status& status, std::span<const PoolUse> uses);
  // Receives the messages of the failed request that were sent to this rank: by rank, their number.
  Status drain(std::span<const int64_t> sent_here);
  // The same on the other ranks, for the message kEnd in `end_`.
  Status drain_at_end();
  std::vector<int64_t> with_released(std::span<const int64_t> numbers);
  // Lets the transfers proceed for a moment.
  Status test_often();
  void start(uint64_t request);
  void stop_if_aborted();
  Status stop_reason() const;
  void give_up_transfers();
  // end() with exceptions.
  Status end_request(Status status, std::span<PoolUse> uses, std::span<const int> rank_of_pool);

  const scopevm_transport& transport_;
  bool has_greeted_ = false;       // all ranks have the same module
  std::binary_semaphore turn_{1};  // taken by a request of rank 0, on any of its threads
  mutable std::mutex health_mutex_;
  Status health_;
  bool has_failed_ = false;  // health() is not ok; for the thread of the request
  std::atomic<uint64_t> next_offset_{0};
  std::mutex released_mutex_;
  std::vector<int64_t> released_;  // has capacity for all that will be
  size_t to_release_ = 0;
  // Of the current request.
  uint64_t request_ = 0;
  bool is_active_ = false;
  std::function<Status()> check_interrupts_;  // empty on other ranks than 0
  std::list<Outgoing> outgoing_;              // control messages
  std::vector<Transfer> transfers_;
  std::vector<int64_t> sent_, received_;  // messages by rank; those whose transfer has ended
  std::vector<std::chrono::steady_clock::time_point> reported_;  // by rank: the end of the last one
  Status stopped_;  // another rank has failed, or rank 0
  bool has_aborted_ = false;
  std::vector<Outcome> outcomes_;  // on rank 0, by rank
  // On the other ranks.
  uint64_t aborted_ = 0;  // the last request that rank 0 has aborted
  std::optional<ControlMessage> end_, next_;
  bool is_over_ = false;
};

}  // namespace scopevm::vm
