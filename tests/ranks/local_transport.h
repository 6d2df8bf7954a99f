// A job of several ranks in one process: each rank is a thread with its own transport.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "scopevm/c/transport.h"

namespace scopevm {

class LocalJob {
 public:
  // Messages of more than `eager_bytes` bytes are sent when they are received; others at once.
  explicit LocalJob(int ranks, int64_t eager_bytes = 64);

  // The transport of a rank. Valid as long as the job.
  const scopevm_transport* transport(int rank) { return &ranks_[static_cast<size_t>(rank)].c; }
  // From now on, all operations of the other ranks fail.
  void kill(int rank);
  // The messages that were sent, and those that no rank has received.
  int64_t sent() const { return sent_; }
  int64_t left() const;
  // The blocks that ranks have taken from the memory of their transports, and those that they have.
  int64_t blocks_taken() const { return blocks_taken_; }
  int64_t blocks() const { return blocks_; }

 private:
  struct Message {
    const void* source = nullptr;  // of a sender that waits
    std::vector<std::byte> copy;
    int64_t bytes = 0;
    std::atomic<bool> is_taken{false};
  };
  struct Receive {
    void* data;
    int64_t bytes;
    std::atomic<bool> is_done{false};
  };
  struct Channel {
    std::deque<std::shared_ptr<Message>> messages;
    std::deque<std::shared_ptr<Receive>> receives;
  };
  struct Operation {
    std::shared_ptr<Message> message;
    std::shared_ptr<Receive> receive;
    std::tuple<int, int, int> channel;
  };
  struct Rank {
    LocalJob* job = nullptr;
    scopevm_transport c = {};
    std::string error;
  };

  void* send(int from, int to, int tag, const void* data, int64_t bytes);
  void* receive(int at, int from, int tag, void* data, int64_t bytes);
  int test(int rank, Operation* operation);
  void cancel(Operation* operation);
  int64_t probe(int at, int from, int tag);
  // Matches messages with receives.
  static void match(Channel& channel);

  const int64_t eager_bytes_;
  std::deque<Rank> ranks_;
  mutable std::mutex mutex_;
  std::map<std::tuple<int, int, int>, Channel> channels_;  // by sender, receiver, tag
  std::atomic<int64_t> sent_{0};
  std::atomic<int> killed_{-1};
  std::atomic<int64_t> blocks_taken_{0};
  std::atomic<int64_t> blocks_{0};
};

}  // namespace scopevm
