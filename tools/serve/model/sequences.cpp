// The table of sequences; see sequences.h.
#include "tools/serve/model/sequences.h"

#include <utility>

#include "runtime/quoted.h"

namespace scopevm::serve {

Status Sequences::enter(const std::string& id, bool is_start,
                        std::function<bool(const std::shared_ptr<Sequence>&)> run) {
  std::shared_ptr<Sequence> sequence;
  {
    const std::lock_guard lock(mutex_);
    const auto found = sequences_.find(id);
    if (found == sequences_.end() && !is_start)
      return {StatusCode::kInvalidArgument,
              "sequence " + runtime::quoted(id) +
                  ": expected sequence_start in its first request; it may have ended because it "
                  "was idle"};
    if (found == sequences_.end() && sequences_.size() >= config_.max)
      return {StatusCode::kResourceLimit,
              "there are " + std::to_string(config_.max) + " sequences already"};
    if (found != sequences_.end()) {
      sequence = found->second;
    } else {
      sequence = std::make_shared<Sequence>(id);
      sequences_.emplace(id, sequence);
    }
    if (sequence->is_busy) {
      sequence->waiting.emplace_back([run = std::move(run), sequence] { return run(sequence); });
      return {};
    }
    sequence->is_busy = true;
  }
  if (!run(sequence)) leave(sequence);
  return {};
}

// Another sequence can have the name.
void Sequences::remove(const std::shared_ptr<Sequence>& sequence) {
  const auto found = sequences_.find(sequence->id);
  if (found != sequences_.end() && found->second == sequence) sequences_.erase(found);
}

void Sequences::end(const std::shared_ptr<Sequence>& sequence) {
  const std::lock_guard lock(mutex_);
  if (sequence->waiting.empty()) remove(sequence);
}

void Sequences::leave(const std::shared_ptr<Sequence>& sequence) {
  while (true) {
    std::function<bool()> next;
    {
      const std::lock_guard lock(mutex_);
      if (sequence->waiting.empty()) {
        sequence->is_busy = false;
        sequence->last_used = std::chrono::steady_clock::now();
        if (!sequence->state) remove(sequence);
        return;
      }
      next = std::move(sequence->waiting.front());
      sequence->waiting.pop_front();
    }
    if (next()) return;
  }
}

void Sequences::end_idle() {
  const auto oldest = std::chrono::steady_clock::now() - config_.idle_timeout;
  const std::lock_guard lock(mutex_);
  std::erase_if(sequences_, [&](const auto& entry) {
    return !entry.second->is_busy && entry.second->last_used < oldest;
  });
}

size_t Sequences::count() const {
  const std::lock_guard lock(mutex_);
  return sequences_.size();
}

}  // namespace scopevm::serve
