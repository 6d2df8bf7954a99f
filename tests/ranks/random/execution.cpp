#include "tests/ranks/random/execution.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <thread>
#include <utility>

namespace scopevm::ranks {

Execution::Execution(Module module, const Options& options) : module_(std::move(module)) {
  if (options.is_job) {
    others_.resize(static_cast<size_t>(module_.ranks()));
    ranks_ = std::make_unique<LocalRanks>(
        module_, module_.ranks(), options.eager_bytes,
        [this, threads = options.threads](int rank) { return options_of_rank(rank, threads); },
        [this](int rank, const Session& session) {
          std::lock_guard lock(mutex_);
          if (rank > 0) others_[static_cast<size_t>(rank)] = session;
        });
  }
  const Result<Session> created =
      ranks_ ? ranks_->leader() : Session::create(module_, options_of_rank(0, options.threads));
  if (!created.ok()) {
    std::fprintf(stderr, "session: %s\n", std::string(created.status().message()).c_str());
    std::abort();
  }
  session_ = *created;
  while (!has_all_ranks()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool Execution::has_all_ranks() const {
  std::lock_guard lock(mutex_);
  return others_.empty() || std::ranges::all_of(others_.begin() + 1, others_.end(),
                                                [](auto& each) { return each.has_value(); });
}

SessionOptions Execution::options_of_rank(int rank, int threads) {
  SessionOptions options;
  options.threads = threads;
  options.wrap_allocator = [this, rank](std::string_view device, std::string_view scope,
                                        std::shared_ptr<Allocator> allocator) {
    auto wrapped = std::make_shared<runtime::FailingAllocator>(std::move(allocator));
    std::lock_guard lock(mutex_);
    allocators_[std::to_string(rank) + " " + std::string(device) + "." + std::string(scope)] =
        wrapped;
    return wrapped;
  };
  return options;
}

Status Execution::run(const State& state, const Inputs& inputs, const CallOptions& options,
                      bool is_cancelled) {
  if (!call_) {
    SCOPEVM_ASSIGN_OR_RETURN(Call call, session_->make_call());
    call_.emplace(std::move(call));
  }
  SCOPEVM_RETURN_IF_ERROR(call_->set_state(state));
  for (const auto& [name, tensor] : inputs) SCOPEVM_RETURN_IF_ERROR(call_->set_input(name, tensor));
  if (is_cancelled) call_->cancel();
  return call_->run(options);
}

void Execution::fail_at(int64_t nth, Random& random) {
  std::lock_guard lock(mutex_);
  for (const auto& [pool, allocator] : allocators_) allocator->fail_at(0);
  if (nth == 0) return;
  const auto number = random.below(static_cast<int64_t>(allocators_.size()));
  std::next(allocators_.begin(), number)->second->fail_at(nth);
}

std::vector<std::string> Execution::live_bytes() const {
  std::vector<std::string> lines;
  const auto add = [&](const Session& session, size_t rank) {
    session.trim();
    const auto stats = session.memory_stats();
    if (!stats.ok()) return;
    for (const ScopeStats& scope : *stats)
      lines.push_back("rank " + std::to_string(rank) + " " + scope.device + "." + scope.scope +
                      ": " + std::to_string(scope.memory.live_bytes) + " bytes");
  };
  add(*session_, 0);
  for (size_t rank = 1; rank < others_.size(); ++rank)
    if (others_[rank]) add(*others_[rank], rank);
  return lines;
}

std::string Execution::finish() {
  call_.reset();
  session_.reset();
  if (!ranks_) return "";
  const int64_t left = ranks_->job().left();
  if (left != 0) return std::to_string(left) + " messages that no rank has received";
  for (const Status& followed : ranks_->finish())
    if (!followed.ok()) return "follow: " + std::string(followed.message());
  return "";
}

}  // namespace scopevm::ranks
