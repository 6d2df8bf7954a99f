#include "generator.h"

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>

using namespace scopevm;

struct Generator::Sequence {
  Request request;
  std::mt19937_64 random;
  SequenceBytes bytes;
  std::vector<int64_t> tokens;  // of the prompt, and generated ones
  int64_t past = 0;             // tokens that the caches contain
  int64_t step = 0;             // tokens of the step that runs
  std::optional<State> state;   // the caches
  std::optional<Call> call;
  std::optional<Status> end;  // how the sequence ended
  // The last token that is generated is not the input of a step.
  int64_t capacity(int64_t max_tokens) const {
    return static_cast<int64_t>(request.prompt.size()) + max_tokens - 1;
  }
};

namespace {

Result<int64_t> peak_bytes(const Session& session) {
  const auto scopes = session.memory_stats();
  if (!scopes.ok()) return scopes.status();
  int64_t bytes = 0;
  for (const ScopeStats& scope : *scopes) bytes += scope.memory.peak_bytes;
  return bytes;
}

}  // namespace

Result<std::unique_ptr<Generator>> Generator::create(const LanguageModel& model,
                                                     const GeneratorOptions& options) {
  auto scheduler = Scheduler::create(
      {.workers = options.workers, .max_suspended = static_cast<size_t>(options.workers)});
  if (!scheduler.ok()) return scheduler.status();
  auto session = Session::create(model.module(), {.threads = 1, .scheduler = *scheduler});
  if (!session.ok()) return session.status();
  const Result<int64_t> constant_bytes = peak_bytes(*session);
  if (!constant_bytes.ok()) return constant_bytes.status();
  return std::unique_ptr<Generator>(
      new Generator(model, options, *std::move(session), *constant_bytes));
}

Generator::Generator(const LanguageModel& model, GeneratorOptions options, Session session,
                     int64_t constant_bytes)
    : model_(model),
      options_(std::move(options)),
      session_(std::move(session)),
      constant_bytes_(constant_bytes),
      thread_([this](const std::stop_token& stop) { manage(stop); }) {}

Generator::~Generator() { wait(); }

void Generator::add(Request request) {
  auto sequence = std::make_unique<Sequence>();
  sequence->tokens = request.prompt;
  const auto halves = [](uint64_t x) {
    return std::array{static_cast<uint32_t>(x), static_cast<uint32_t>(x >> 32)};
  };
  const auto seed = halves(options_.seed), number = halves(request.number);
  std::seed_seq seeds{seed[0], seed[1], number[0], number[1]};
  sequence->random.seed(seeds);
  sequence->request = std::move(request);
  const Result<SequenceBytes> bytes = bytes_of(*sequence);
  const std::lock_guard lock(mutex_);
  if (bytes.ok()) {
    sequence->bytes = *bytes;
    waiting_.push_back(std::move(sequence));
  } else {
    sequence->end = bytes.status();
    admitted_.push_back(std::move(sequence));  // without memory
  }
  changed_.notify_all();
}

Result<SequenceBytes> Generator::bytes_of(const Sequence& sequence) {
  const int64_t capacity = sequence.capacity(options_.max_tokens);
  std::optional<SequenceBytes> bytes;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = bytes_.find(capacity); known != bytes_.end()) bytes = known->second;
  }
  if (!bytes) {
    // The prompts of all sequences of this capacity have equal sizes.
    const int64_t step =
        std::min(options_.chunk, static_cast<int64_t>(sequence.request.prompt.size()));
    const Result<SequenceBytes> found = model_.bytes(capacity, step, session_.threads());
    if (!found.ok()) return found.status();
    bytes = *found;
    const std::lock_guard lock(mutex_);
    bytes_[capacity] = *found;
  }
  const int64_t alone = bytes->caches + options_.workers * bytes->call;
  if (options_.memory > 0 && alone > options_.memory)
    return Status(StatusCode::kResourceLimit, "the sequence needs " + std::to_string(alone) +
                                                  " bytes, the limit is " +
                                                  std::to_string(options_.memory));
  return *bytes;
}

void Generator::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && admitted_.empty(); });
}

Result<Generator::Stats> Generator::stats() const {
  const Result<int64_t> peak = peak_bytes(session_);
  if (!peak.ok()) return peak.status();
  const std::lock_guard lock(mutex_);
  Stats stats = stats_;
  stats.peak_bytes = *peak - constant_bytes_;
  return stats;
}

int64_t Generator::bytes_with(const Sequence* one_more) const {
  int64_t caches = 0, call = 0;
  const auto add = [&](const Sequence& sequence) {
    caches += sequence.bytes.caches;
    call = std::max(call, sequence.bytes.call);
  };
  for (const auto& sequence : admitted_) add(*sequence);
  if (one_more != nullptr) add(*one_more);
  return caches + options_.workers * call;
}

bool Generator::can_admit() const {
  return !waiting_.empty() &&
         (options_.memory == 0 || bytes_with(waiting_.front().get()) <= options_.memory);
}

Generator::Sequence& Generator::admit() {
  Sequence& sequence = *admitted_.emplace_back(std::move(waiting_.front()));
  waiting_.pop_front();
  stats_.most_sequences = std::max(stats_.most_sequences, admitted_.size());
  stats_.most_bytes = std::max(stats_.most_bytes, bytes_with(nullptr));
  return sequence;
}

void Generator::manage(const std::stop_token& stop) {
  const auto has_ended = [](const auto& sequence) { return sequence->end.has_value(); };
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop,
                       [&] { return can_admit() || std::ranges::any_of(admitted_, has_ended); })) {
    const auto ended = std::ranges::find_if(admitted_, has_ended);
    const bool is_end = ended != admitted_.end();
    Sequence& sequence = is_end ? **ended : admit();
    lock.unlock();
    if (is_end)
      release(sequence);
    else if (Status status = start(sequence); !status.ok())
      mark_ended(sequence, std::move(status));
    lock.lock();
  }
}

Status Generator::start(Sequence& sequence) try {
  auto state =
      State::create(session_, {.dims = model_.cache_dims(sequence.capacity(options_.max_tokens))});
  if (!state.ok()) return state.status();
  auto call = session_.make_call();
  if (!call.ok()) return call.status();
  sequence.state = *std::move(state);
  sequence.call = *std::move(call);
  const Status status = sequence.call->set_state(*sequence.state);
  return status.ok() ? submit(sequence) : status;
} catch (const std::bad_alloc&) {
  return Status(StatusCode::kOutOfMemory, "out of memory");
}

Status Generator::submit(Sequence& sequence) {
  const auto left = std::span(sequence.tokens).subspan(static_cast<size_t>(sequence.past));
  const auto tokens = left.first(std::min(left.size(), static_cast<size_t>(options_.chunk)));
  sequence.step = static_cast<int64_t>(tokens.size());
  const Status status = model_.set_inputs(*sequence.call, tokens, sequence.past);
  if (!status.ok()) return status;
  return sequence.call->submit({}, [this, &sequence](const Status& result) {
    Status status = result;
    try {
      const Result<bool> continues = status.ok() ? advance(sequence) : Result<bool>(status);
      status = continues.status();
      if (status.ok() && *continues) {
        status = submit(sequence);
        if (status.ok()) return;
      }
    } catch (const std::bad_alloc&) {
      status = Status(StatusCode::kOutOfMemory, "out of memory");
    }
    mark_ended(sequence, std::move(status));
  });
}

Result<bool> Generator::advance(Sequence& sequence) {
  sequence.past += sequence.step;
  if (sequence.past < static_cast<int64_t>(sequence.tokens.size())) {
    sequence.call->clear_outputs();  // the memory of results is that of a step
    return true;
  }
  const Tensor& logits = sequence.call->outputs()[model_.logits()];
  const int64_t vocabulary = logits.rank() > 0 ? logits.dims().back() : 0;
  if (logits.element_count() == 0)
    return Status(StatusCode::kInvalidArgument, "the model returned no logits");
  const int64_t token = sample(logits.elements<float>().last(static_cast<size_t>(vocabulary)),
                               options_.sampling, sequence.random);
  sequence.call->clear_outputs();
  sequence.tokens.push_back(token);
  {
    const std::lock_guard lock(mutex_);
    ++stats_.tokens;
  }
  {
    const std::lock_guard lock(output_);
    sequence.request.on_token(token);
  }
  const size_t generated = sequence.tokens.size() - sequence.request.prompt.size();
  return static_cast<int64_t>(generated) < options_.max_tokens &&
         std::ranges::find(options_.stops, token) == options_.stops.end();
}

void Generator::mark_ended(Sequence& sequence, Status status) {
  const std::lock_guard lock(mutex_);
  sequence.end = std::move(status);
  changed_.notify_all();
}

// The call, which called mark_ended(), uses the state until it is idle. The sequence counts as
// admitted until its memory is released.
void Generator::release(Sequence& sequence) {
  if (sequence.call) (void)sequence.call->wait();
  sequence.call.reset();
  sequence.state.reset();
  {
    const std::lock_guard lock(output_);
    sequence.request.on_end(*sequence.end);
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(admitted_, [&](const auto& other) { return other.get() == &sequence; });
  changed_.notify_all();
}
