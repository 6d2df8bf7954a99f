// AdmissionQueue: the order in which waiting requests are admitted. The request with the highest
// priority is the first, and of these the one that waits longest. Waiting raises the priority, by
// one in each `ageing`. A request that does not fit can be bypassed by later ones that do, but at
// most `max_bypass` times: then nothing is admitted before it. Every request that fits in empty
// pools is therefore admitted at some time, if running requests end.
//
// The queue has no clock and no threads: callers pass the time. A test explores its states.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "vm/run/admission/ledger.h"

namespace scopevm::vm {

struct AdmissionPolicy {
  int max_bypass = 16;                                        // at least 0
  std::chrono::nanoseconds ageing = std::chrono::seconds(1);  // at least 1 ns
};

// The largest absolute value of a priority.
inline constexpr int kMaxPriority = 1000;

// Not thread-safe.
class AdmissionQueue {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Entry {
    void* request = nullptr;  // the caller's, different for each entry; not accessed
    int priority = 0;
    Time since;                    // when it began to wait
    std::optional<Time> deadline;  // when it stops waiting
    std::span<const Need> needs;   // must be valid while the entry waits
    int bypassed = 0;
  };

  AdmissionQueue(Ledger& ledger, const AdmissionPolicy& policy)
      : ledger_(ledger), policy_(policy) {}

  size_t size() const { return entries_.size(); }
  // If it throws std::bad_alloc, the queue is unchanged.
  void add(Entry entry);
  // The next request that can be admitted, which leaves the queue, and whose needs are reserved.
  std::optional<Entry> admit();
  // A request whose deadline has passed, which leaves the queue.
  std::optional<Entry> expire(Time now);
  // Removes a request. Returns false if it does not wait.
  bool remove(void* request);
  // The earliest deadline.
  std::optional<Time> next_deadline() const;

 private:
  // The place in the order: the time when the request would have begun to wait if its priority were
  // 0, and the number of requests before it. The order does not change while requests wait, because
  // waiting raises all priorities equally.
  struct Place {
    Time since;
    uint64_t number = 0;
    auto operator<=>(const Place&) const = default;
  };
  using Entries = std::map<Place, Entry>;
  Entry take(Entries::iterator at);

  Ledger& ledger_;
  const AdmissionPolicy policy_;
  uint64_t count_ = 0;  // of all requests
  Entries entries_;
  std::unordered_map<void*, Place> places_;
  std::set<std::pair<Time, Place>> deadlines_;
};

}  // namespace scopevm::vm
