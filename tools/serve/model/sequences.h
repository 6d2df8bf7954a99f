// Sequences of requests that carry a state. The requests of a sequence run one after the other, in
// the order in which they came.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "scopevm/state.h"
#include "scopevm/status.h"
#include "tools/serve/model/model_config.h"

namespace scopevm::serve {

struct Sequence {
  explicit Sequence(std::string name) : id(std::move(name)) {}

  const std::string id;
  std::optional<State> state;  // none before the first request, and after the last one
  // The members below belong to Sequences.
  bool is_busy = false;
  // Each returns whether a request of the sequence now runs, which calls leave() at its end.
  std::deque<std::function<bool()>> waiting;
  std::chrono::steady_clock::time_point last_used;
};

// Thread-safe.
class Sequences {
 public:
  explicit Sequences(const SequenceConfig& config) : config_(config) {}

  // Calls `run` now, or when the requests of the sequence that came before have ended. It has the
  // sequence for itself until leave(), unless it returns false. Errors: kInvalidArgument (no such
  // sequence, and `is_start` is false), kResourceLimit (too many sequences).
  Status enter(const std::string& id, bool is_start,
               std::function<bool(const std::shared_ptr<Sequence>&)> run);
  // Ends a sequence before leave(), unless requests of it wait: it does not count any more, and its
  // name is free.
  void end(const std::shared_ptr<Sequence>& sequence);
  // A sequence without a state ends. Then the next request that waits runs.
  void leave(const std::shared_ptr<Sequence>& sequence);
  // Ends the sequences that had no request for the idle time-out.
  void end_idle();
  // The number of sequences.
  size_t count() const;

 private:
  // Removes the sequence from the table. Needs mutex_.
  void remove(const std::shared_ptr<Sequence>& sequence);

  const SequenceConfig config_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Sequence>> sequences_;
};

}  // namespace scopevm::serve
