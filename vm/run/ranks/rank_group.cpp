// The protocol of the ranks of a job; see rank_group.h.
#include "vm/run/ranks/rank_group.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "runtime/c_api/c_arguments.h"
#include "runtime/without_exceptions.h"
#include "vm/run/ranks/message_memory.h"
#include "vm/run/ranks/pause.h"

namespace scopevm::vm {
namespace {

std::string rank_text(int rank) { return "rank " + std::to_string(rank); }

}  // namespace

RankGroup::RankGroup(const scopevm_transport& transport)
    : transport_(transport),
      sent_(static_cast<size_t>(transport.ranks)),
      received_(sent_.size()),
      reported_(sent_.size()),
      outcomes_(sent_.size()) {}

Result<std::unique_ptr<RankGroup>> RankGroup::create(const scopevm_transport* transport, int ranks,
                                                     uint64_t digest) {
  if (transport->struct_size < SCOPEVM_SIZE_UP_TO(scopevm_transport, error) ||
      transport->abi_version != SCOPEVM_TRANSPORT_ABI_VERSION)
    return Status(StatusCode::kInvalidArgument,
                  "the transport has ABI version " + std::to_string(transport->abi_version) +
                      ", expected " + std::to_string(SCOPEVM_TRANSPORT_ABI_VERSION));
  if (transport->ranks != ranks || transport->rank < 0 || transport->rank >= ranks)
    return Status(StatusCode::kInvalidArgument,
                  "the module is for " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") +
                      ", but this process is " + rank_text(transport->rank) + " of " +
                      std::to_string(transport->ranks));
  std::unique_ptr<RankGroup> group(new RankGroup(*transport));
  SCOPEVM_RETURN_IF_ERROR(group->greet(digest));
  return group;
}

RankGroup::~RankGroup() {
  Status sent = health();
  for (int to = 1; to < size() && is_leader() && has_greeted_ && sent.ok(); ++to)
    sent = send_control(to, {.kind = ControlMessage::Kind::kStop});
  // A rank that does not follow takes no message.
  const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (Pause pause; sent.ok() && !outgoing_.empty() && std::chrono::steady_clock::now() < last;
       pause())
    sent = test_operations();
  give_up_transfers();
}

// Every rank sends its digest to every other one, so that each reports a difference.
Status RankGroup::greet(uint64_t digest) {
  std::vector<bool> is_known(static_cast<size_t>(size()));
  is_known[static_cast<size_t>(rank())] = true;
  for (int to = 0; to < size(); ++to)
    if (to != rank())
      SCOPEVM_RETURN_IF_ERROR(
          send_control(to, {.kind = ControlMessage::Kind::kHello, .request = digest}));
  std::vector<int> others;
  for (Pause pause; !std::ranges::all_of(is_known, std::identity()) || !outgoing_.empty();
       pause()) {
    SCOPEVM_RETURN_IF_ERROR(test_operations());
    for (int from = 0; from < size(); ++from) {
      if (is_known[static_cast<size_t>(from)]) continue;
      SCOPEVM_ASSIGN_OR_RETURN(const std::optional<ControlMessage> hello, take_control(from));
      if (!hello) continue;
      is_known[static_cast<size_t>(from)] = true;
      if (hello->request != digest) others.push_back(from);
    }
  }
  has_greeted_ = others.empty();
  if (has_greeted_) return {};
  std::ranges::sort(others);
  std::string text;
  for (const int other : others) text += (text.empty() ? "" : ", ") + rank_text(other);
  return {StatusCode::kInvalidArgument,
          text + ": another module than that of " + rank_text(rank())};
}

Status RankGroup::health() const {
  std::lock_guard lock(health_mutex_);
  return health_;
}

std::shared_ptr<BlockSource> RankGroup::message_memory() const {
  const bool has_memory =
      transport_.struct_size >= SCOPEVM_SIZE_UP_TO(scopevm_transport, deallocate) &&
      transport_.allocate != nullptr;
  return has_memory ? std::make_shared<MessageMemory>(transport_) : nullptr;
}

Status RankGroup::fail() {
  has_failed_ = true;
  std::lock_guard lock(health_mutex_);
  if (health_.ok())
    health_ =
        Status(StatusCode::kDevice, std::string("ranks: ") + transport_.error(transport_.context));
  return health_;
}

// --- Messages. ---

Status RankGroup::send_control(int to, const ControlMessage& message) {
  Outgoing& sent = outgoing_.emplace_back();
  sent.bytes = message.encode();
  sent.operation = transport_.send(transport_.context, to, kControl, sent.bytes.data(),
                                   static_cast<int64_t>(sent.bytes.size()));
  if (sent.operation != nullptr) return {};
  outgoing_.pop_back();
  return fail();
}

Result<std::optional<ControlMessage>> RankGroup::take_control(int from) {
  const int64_t bytes = transport_.probe(transport_.context, from, kControl);
  if (bytes < -1) return fail();
  if (bytes < 0) return std::optional<ControlMessage>();
  std::string text(static_cast<size_t>(bytes), '\0');
  void* const operation =
      transport_.receive(transport_.context, from, kControl, text.data(), bytes);
  if (operation == nullptr) return fail();
  for (Pause pause;; pause()) {
    const int state = transport_.test(transport_.context, operation);
    if (state == SCOPEVM_TRANSPORT_FAILED) return fail();
    if (state == SCOPEVM_TRANSPORT_DONE) break;
  }
  SCOPEVM_ASSIGN_OR_RETURN(ControlMessage message, ControlMessage::decode(text));
  return std::optional(std::move(message));
}

Status RankGroup::handle_messages() {
  // Only rank 0 and another rank exchange such messages.
  const int first = is_leader() ? 1 : 0, last = is_leader() ? size() - 1 : 0;
  for (int from = first; from <= last; ++from)
    while (!is_over_) {  // the messages after it are those of the next session
      SCOPEVM_ASSIGN_OR_RETURN(std::optional<ControlMessage> message, take_control(from));
      if (!message) break;
      handle(from, *std::move(message));
    }
  return is_leader() && !stopped_.ok() ? abort_others() : Status();
}

void RankGroup::handle(int from, ControlMessage message) {
  using Kind = ControlMessage::Kind;
  switch (message.kind) {
    case Kind::kDone:
      if (stopped_.ok() && message.code != StatusCode::kOk)
        stopped_ = Status(message.code, rank_text(from) + ": " + message.text);
      outcomes_[static_cast<size_t>(from)] = {true, false, std::move(message)};
      return;
    case Kind::kDrained:
      outcomes_[static_cast<size_t>(from)].is_drained = true;
      return;
    case Kind::kAbort:
      aborted_ = message.request;
      stop_if_aborted();
      return;
    case Kind::kEnd:
      end_ = std::move(message);
      return;
    case Kind::kRequest:
      next_ = std::move(message);
      return;
    case Kind::kStop:
      is_over_ = true;
      return;
    case Kind::kHello:
      return;
  }
}

template <typename Done>
Status RankGroup::wait(Done is_done) {
  for (Pause pause;; pause()) {
    SCOPEVM_RETURN_IF_ERROR(test_operations());
    SCOPEVM_RETURN_IF_ERROR(handle_messages());
    SCOPEVM_ASSIGN_OR_RETURN(const bool done, is_done());
    if (done) return {};
  }
}

// --- Waits. ---

Status RankGroup::settle() {
  if (transfers_.empty() && !has_failed_) return {};
  SCOPEVM_RETURN_IF_ERROR(test_often());
  if (transfers_.empty()) return {};
  return wait([this]() -> Result<bool> {
    if (transfers_.empty()) return true;
    SCOPEVM_RETURN_IF_ERROR(stop_reason());
    return false;
  });
}

// An error if the request must end.
Status RankGroup::stop_reason() const {
  if (!stopped_.ok() || !check_interrupts_) return stopped_;
  return check_interrupts_();
}

// --- Requests. ---

void RankGroup::start(uint64_t request) {
  request_ = request;
  is_active_ = true;
  std::ranges::fill(sent_, 0);
  std::ranges::fill(received_, 0);
  stopped_ = {};
  has_aborted_ = false;
  for (Outcome& outcome : outcomes_) outcome.is_known = false;
  end_.reset();
  stop_if_aborted();  // the message can precede next_request()
}

void RankGroup::stop_if_aborted() {
  if (aborted_ == request_ && stopped_.ok())
    stopped_ = Status(StatusCode::kCancelled, "another rank failed");
}

void RankGroup::reserve_release() {
  std::lock_guard lock(released_mutex_);
  released_.reserve(released_.size() + to_release_ + 1);
  ++to_release_;
}

void RankGroup::release(int64_t address) {
  std::lock_guard lock(released_mutex_);
  released_.push_back(address);
  --to_release_;
}

// The number of released addresses, these, and `numbers`.
std::vector<int64_t> RankGroup::with_released(std::span<const int64_t> numbers) {
  std::lock_guard lock(released_mutex_);
  std::vector<int64_t> all = {static_cast<int64_t>(released_.size())};
  all.reserve(1 + released_.size() + numbers.size());
  all.insert(all.end(), released_.begin(), released_.end());
  all.insert(all.end(), numbers.begin(), numbers.end());
  released_.clear();  // keeps its capacity
  return all;
}

Status RankGroup::take_turn(const std::function<Status()>& check_interrupts) {
  while (!turn_.try_acquire_for(std::chrono::milliseconds(1)))
    SCOPEVM_RETURN_IF_ERROR(check_interrupts());
  return {};
}

Status RankGroup::begin(std::span<const int64_t> numbers,
                        std::function<Status()> check_interrupts) {
  const Status begun = runtime::without_exceptions([&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(health());
    start(request_ + 1);
    check_interrupts_ = std::move(check_interrupts);
    const ControlMessage message{.kind = ControlMessage::Kind::kRequest,
                                 .request = request_,
                                 .numbers = with_released(numbers)};
    for (int to = 1; to < size(); ++to) SCOPEVM_RETURN_IF_ERROR(send_control(to, message));
    return {};
  });
  if (begun.ok()) return begun;
  is_active_ = false;
  turn_.release();
  return begun;
}

Status RankGroup::end(Status status, std::span<PoolUse> uses, std::span<const int> rank_of_pool) {
  bool is_ended = false;
  Status ended = runtime::without_exceptions([&] {
    Status result = end_request(std::move(status), uses, rank_of_pool);
    is_ended = true;
    return result;
  });
  if (!is_ended) {
    has_failed_ = true;
    std::lock_guard lock(health_mutex_);
    if (health_.ok()) health_ = ended;
  }
  if (!is_ended || !health().ok()) give_up_transfers();
  is_active_ = false;
  check_interrupts_ = {};
  if (is_leader()) turn_.release();
  return ended;
}

Status RankGroup::end_request(Status status, std::span<PoolUse> uses,
                              std::span<const int> rank_of_pool) {
  if (status.ok()) status = settle();
  if (health().ok()) {
    if (!stopped_.ok())
      status = stopped_;  // not the error of the transfer that it stopped
    else if (is_leader())
      stopped_ = status;
    const Status ended = is_leader() ? lead_end(uses, rank_of_pool) : follow_end(status, uses);
    if (status.ok()) status = ended;
  }
  Status broken = health();
  return broken.ok() ? status : broken;
}

// After a failure, and at the end.
void RankGroup::give_up_transfers() {
  for (const Transfer& transfer : transfers_)
    transport_.cancel(transport_.context, transfer.operation);
  transfers_.clear();
  for (const Outgoing& sent : outgoing_) transport_.cancel(transport_.context, sent.operation);
  outgoing_.clear();
}

Status RankGroup::abort_others() {
  if (has_aborted_) return {};
  has_aborted_ = true;
  for (int to = 1; to < size(); ++to)
    if (!outcomes_[static_cast<size_t>(to)].is_known)
      SCOPEVM_RETURN_IF_ERROR(
          send_control(to, {.kind = ControlMessage::Kind::kAbort, .request = request_}));
  return {};
}

Status RankGroup::lead_end(std::span<PoolUse> uses, std::span<const int> rank_of_pool) {
  SCOPEVM_RETURN_IF_ERROR(wait([this]() -> Result<bool> {
    if (stopped_.ok()) stopped_ = check_interrupts_();
    return outgoing_.empty() &&
           std::ranges::all_of(outcomes_.begin() + 1, outcomes_.end(), &Outcome::is_known);
  }));
  const auto ranks = static_cast<size_t>(size());
  for (size_t from = 1; from < ranks; ++from) {
    const std::vector<int64_t>& numbers = outcomes_[from].message.numbers;
    const bool has_uses = numbers.size() > ranks;
    if (numbers.size() < ranks || (stopped_.ok() && !has_uses && !uses.empty()) ||
        (has_uses && !uses.empty() && numbers.size() != ranks + 2 * uses.size()))
      return {StatusCode::kDevice, "a rank sent an invalid message"};
    for (size_t i = 0; i < uses.size() && has_uses; ++i)
      if (rank_of_pool[i] == static_cast<int>(from))
        uses[i] = {numbers[ranks + 2 * i], numbers[ranks + 2 * i + 1]};
  }
  if (stopped_.ok()) return {};
  const auto sent_to = [&](size_t to) {
    std::vector<int64_t> sent = {sent_[to]};
    for (size_t from = 1; from < ranks; ++from) sent.push_back(outcomes_[from].message.numbers[to]);
    return sent;
  };
  for (size_t to = 1; to < ranks; ++to)
    SCOPEVM_RETURN_IF_ERROR(send_control(
        static_cast<int>(to),
        {.kind = ControlMessage::Kind::kEnd, .request = request_, .numbers = sent_to(to)}));
  SCOPEVM_RETURN_IF_ERROR(drain(sent_to(0)));
  SCOPEVM_RETURN_IF_ERROR(wait([this]() -> Result<bool> {
    return std::ranges::all_of(outcomes_.begin() + 1, outcomes_.end(), &Outcome::is_drained);
  }));
  return stopped_;
}

Status RankGroup::follow_end(const Status& status, std::span<const PoolUse> uses) {
  ControlMessage done{.kind = ControlMessage::Kind::kDone,
                      .request = request_,
                      .numbers = sent_,
                      .code = status.code(),
                      .text = std::string(status.message())};
  for (const PoolUse& use : uses)
    done.numbers.insert(done.numbers.end(), {use.peak_bytes, use.allocations});
  SCOPEVM_RETURN_IF_ERROR(send_control(0, done));
  if (status.ok()) return {};
  SCOPEVM_RETURN_IF_ERROR(wait([this]() -> Result<bool> { return end_.has_value(); }));
  return drain_at_end();
}

Status RankGroup::drain_at_end() {
  const ControlMessage end = *std::exchange(end_, std::nullopt);
  SCOPEVM_RETURN_IF_ERROR(drain(end.numbers));
  return send_control(0, {.kind = ControlMessage::Kind::kDrained, .request = end.request});
}

Status RankGroup::drain(std::span<const int64_t> sent_here) {
  if (sent_here.size() != sent_.size())
    return {StatusCode::kDevice, "a rank sent an invalid message"};
  // The first transfers from a rank receive the messages that it has sent. No message matches the
  // others.
  std::vector<int64_t> left(sent_here.begin(), sent_here.end());
  for (size_t from = 0; from < left.size(); ++from) left[from] -= received_[from];
  std::erase_if(transfers_, [&](const Transfer& transfer) {
    if (!transfer.is_receive || --left[static_cast<size_t>(transfer.peer)] >= 0) return false;
    transport_.cancel(transport_.context, transfer.operation);
    return true;
  });
  std::vector<std::vector<std::byte>> unused;
  return wait([&]() -> Result<bool> {
    bool is_done = true;
    for (size_t from = 0; from < left.size(); ++from) {
      while (left[from] > 0) {
        const int peer = static_cast<int>(from);
        const int64_t bytes = transport_.probe(transport_.context, peer, kData);
        if (bytes < -1) return fail();
        if (bytes < 0) break;
        unused.emplace_back(static_cast<size_t>(bytes));
        SCOPEVM_RETURN_IF_ERROR(start_transfer(peer, unused.back().data(), bytes, true));
        --left[from];
      }
      is_done = is_done && left[from] <= 0;
    }
    return is_done && transfers_.empty() && outgoing_.empty();
  });
}

Result<std::optional<RankGroup::Begun>> RankGroup::next_request() {
  SCOPEVM_RETURN_IF_ERROR(health());
  while (true) {
    SCOPEVM_RETURN_IF_ERROR(wait([this]() -> Result<bool> { return is_over_ || next_ || end_; }));
    if (end_) {  // of a request that another rank failed after this one had ended it
      SCOPEVM_RETURN_IF_ERROR(drain_at_end());
      continue;
    }
    if (next_) {
      const ControlMessage next = *std::exchange(next_, std::nullopt);
      const std::span<const int64_t> numbers = next.numbers;
      if (numbers.empty() || numbers[0] < 0 || std::cmp_greater_equal(numbers[0], numbers.size()))
        return Status(StatusCode::kDevice, "rank 0 sent an invalid message");
      start(next.request);
      const auto released = numbers.subspan(1, static_cast<size_t>(numbers[0])),
                 rest = numbers.subspan(1 + released.size());
      return std::optional(Begun{{released.begin(), released.end()}, {rest.begin(), rest.end()}});
    }
    return std::optional<Begun>();
  }
}

}  // namespace scopevm::vm
