// RankChannel: the messages of one request at a time between the ranks of a job (rank_group.h). The
// messages of a channel have tags of their own.
//
// Rank 0 begins a request by sending the shapes of the inputs, or what to do with the memory of
// states, to the others. At the end of the request, they report its outcome to rank 0. If a rank
// fails, rank 0 aborts the request on all of them, and each receives what was sent to it, so that
// the next request of the channel finds no old message. Rank 0 waits until all have done so: a
// receive that was started before could take a later message.
//
// One thread at a time uses a channel: on rank 0 that of the request, which has taken the channel.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "scopevm/status.h"
#include "vm/run/ranks/control_message.h"

namespace scopevm::vm {

// Receives the time of a transfer, if it is not null.
struct TransferObserver {
  runtime::CommandObserver* observer = nullptr;
  uint64_t command = 0;
};

class RankGroup;
class SharedTransport;

class RankChannel {
 public:
  // `group` and `transport` must outlive the channel.
  RankChannel(RankGroup& group, SharedTransport& transport, int index);
  ~RankChannel();
  RankChannel(const RankChannel&) = delete;
  RankChannel& operator=(const RankChannel&) = delete;

  // Waits until all ranks have called this, for one channel. Errors: kInvalidArgument (a rank has
  // another module), kDevice (the transport failed).
  Status greet(uint64_t digest);
  // All ranks have greeted each other.
  void open() { is_open_ = true; }
  // On rank 0: is_over() of the others becomes true.
  void stop();
  // Whether messages of stop() have not been sent. Lets them proceed.
  bool has_messages();

  // Begins the request and sends `numbers` to the others, where next_request() begins it. Waits
  // call `check_interrupts`, and fail with its error. After an error, end() must not be called.
  // Errors: RankGroup::health(), those of `check_interrupts`. REQUIRES: the request has taken the
  // channel. An error, or end(), returns it.
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
  // Whether settle() would wait now. Lets the transfers proceed. The first look takes a moment, in
  // which most messages arrive.
  bool is_waiting(bool is_first_look);
  // On rank 0, at the end of a request: whether other ranks have not ended their parts. Lets
  // the transfers proceed, with such a first look, too. end() returns errors.
  bool is_waiting_for_outcomes(bool is_first_look);
  // Every rank calls this. `value` of rank `owner` is assigned to those of the others, before the
  // next settle() returns.
  Status share(int owner, int64_t& value);

  // On the other ranks: whether next_request() has something to do. Does not wait. Errors:
  // RankGroup::health().
  Result<bool> has_request();
  // Whether rank 0 has ended its session.
  bool is_over() const { return is_over_; }
  struct Begun {
    std::vector<int64_t> released;  // addresses
    std::vector<int64_t> numbers;
  };
  // Begins the request of rank 0. No value: it was the end of a failed request. REQUIRES:
  // has_request(). Errors: RankGroup::health().
  Result<std::optional<Begun>> next_request();

 private:
  // Most messages arrive within microseconds.
  static constexpr int kTestsBeforeWaits = 100;

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

  bool is_leader() const { return rank_ == 0; }
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
  // Starts to send. The channel owns the bytes until they are sent.
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
  // Lets the transfers proceed for a moment.
  Status test_often();
  void start(uint64_t request);
  void set_active(bool is_active);
  void stop_if_aborted();
  Status stop_reason() const;
  void give_up_transfers();
  // end() with exceptions.
  Status end_request(Status status, std::span<PoolUse> uses, std::span<const int> rank_of_pool);

  RankGroup& group_;
  SharedTransport& transport_;
  const int rank_, ranks_;
  const int control_tag_, data_tag_;
  bool is_open_ = false;
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
