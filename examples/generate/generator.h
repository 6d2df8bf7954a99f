// Generates tokens for many sequences at once, within a limit of memory.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "model.h"
#include "sampler.h"
#include "scopevm/scheduler.h"
#include "scopevm/session.h"
#include "scopevm/state.h"

struct GeneratorOptions {
  int64_t memory = 0;          // bytes of caches and steps; 0: no limit
  int64_t max_tokens = 1;      // generated tokens of a sequence, at least 1
  int64_t chunk = 1;           // prompt tokens of one step, at least 1
  int workers = 1;             // steps at the same time, at least 1
  std::vector<int64_t> stops;  // a sequence ends after one of these tokens
  Sampling sampling;
  uint64_t seed = 0;
};

struct Request {
  std::vector<int64_t> prompt;  // at least one token
  uint64_t number = 0;          // selects the random numbers, with GeneratorOptions::seed
  // Receives each token as soon as it is known. Threads of the generator call this and on_end, one
  // call at a time. They must not throw, and must not call the generator.
  std::function<void(int64_t token)> on_token;
  // Called once, after the last token.
  std::function<void(const scopevm::Status& status)> on_end;
};

// Each sequence has caches of its own. A sequence is admitted when its caches fit in the memory, in
// addition to those of the admitted sequences and to `workers` steps: its memory is known exactly
// before it begins, so no admitted sequence can fail for lack of memory. Sequences are admitted in
// the order of add(). Steps of the admitted sequences run in turn: a long prompt is divided into
// chunks, between which other sequences get their steps, and a sequence that is admitted joins in
// at once. Thread-safe.
class Generator {
 public:
  struct Stats {
    int64_t tokens = 0;         // generated
    size_t most_sequences = 0;  // that were admitted at the same time
    int64_t most_bytes = 0;  // that admitted sequences and their steps could use at the same time
    int64_t peak_bytes = 0;  // that they have used: the sum of the peaks of all memory scopes
  };

  static scopevm::Result<std::unique_ptr<Generator>> create(const LanguageModel& model,
                                                            const GeneratorOptions& options);
  ~Generator();  // waits, too

  void add(Request request);
  // Waits for the end of all sequences.
  void wait();
  scopevm::Result<Stats> stats() const;

 private:
  struct Sequence;

  Generator(const LanguageModel& model, GeneratorOptions options, scopevm::Session session,
            int64_t constant_bytes);
  // What thread_ executes: admits sequences and ends them.
  void manage(const std::stop_token& stop);
  // The memory of a sequence. Errors: those of LanguageModel::bytes(), and kResourceLimit if the
  // sequence does not fit even without others. The search for the largest step takes milliseconds,
  // so bytes_ keeps its results.
  scopevm::Result<SequenceBytes> bytes_of(const Sequence& sequence);
  // Whether the first one of waiting_ fits. Needs mutex_.
  bool can_admit() const;
  // The bytes that the admitted sequences and one more, if not null, can use. Needs mutex_.
  int64_t bytes_with(const Sequence* one_more) const;
  // Moves the first one of waiting_ to admitted_. Needs mutex_.
  Sequence& admit();
  scopevm::Status start(Sequence& sequence);
  scopevm::Status submit(Sequence& sequence);
  // Takes the result of a step. Returns whether the sequence continues.
  scopevm::Result<bool> advance(Sequence& sequence);
  void mark_ended(Sequence& sequence, scopevm::Status status);
  void release(Sequence& sequence);

  const LanguageModel& model_;
  const GeneratorOptions options_;
  const scopevm::Session session_;
  const int64_t constant_bytes_;  // of the session before the first sequence

  std::mutex output_;  // held during on_token and on_end
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::unique_ptr<Sequence>> waiting_;
  std::list<std::unique_ptr<Sequence>> admitted_;
  std::map<int64_t, SequenceBytes> bytes_;  // by capacity
  Stats stats_;
  std::jthread thread_;  // the last member: it ends before what it uses
};
