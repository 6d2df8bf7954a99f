// The protocol of a request; see rank_channel.h.
#include "vm/run/ranks/rank_channel.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "runtime/without_exceptions.h"
#include "vm/run/ranks/pause.h"
#include "vm/run/ranks/rank_group.h"

namespace scopevm::vm {
namespace {

std::string rank_text(int rank) { return "rank " + std::to_string(rank); }

}  // namespace

RankChannel::RankChannel(RankGroup& group, SharedTransport& transport, int index)
    : group_(group),
      transport_(transport),
      rank_(transport.c().rank),
      ranks_(transport.c().ranks),
      control_tag_(2 * index + 1),
      data_tag_(2 * index + 2),
      sent_(static_cast<size_t>(ranks_)),
      received_(sent_.size()),
      reported_(sent_.size()),
      outcomes_(sent_.size()) {}

RankChannel::~RankChannel() { give_up_transfers(); }

void RankChannel::stop() {
  Status sent = group_.health();
  for (int to = 1; to < ranks_ && is_leader() && is_open_ && sent.ok(); ++to)
    sent = send_control(to, {.kind = ControlMessage::Kind::kStop});
}

bool RankChannel::has_messages() {
  return !outgoing_.empty() && test_operations().ok() && !outgoing_.empty();
}

// Every rank sends its digest to every other one, so that each reports a difference.
Status RankChannel::greet(uint64_t digest) {
  std::vector<bool> is_known(static_cast<size_t>(ranks_));
  is_known[static_cast<size_t>(rank_)] = true;
  for (int to = 0; to < ranks_; ++to)
    if (to != rank_)
      SCOPEVM_RETURN_IF_ERROR(
          send_control(to, {.kind = ControlMessage::Kind::kHello, .request = digest}));
  std::vector<int> others;
  for (Pause pause; !std::ranges::all_of(is_known, std::identity()) || !outgoing_.empty();
       pause()) {
    SCOPEVM_RETURN_IF_ERROR(test_operations());
    for (int from = 0; from < ranks_; ++from) {
      if (is_known[static_cast<size_t>(from)]) continue;
      SCOPEVM_ASSIGN_OR_RETURN(const std::optional<ControlMessage> hello, take_control(from));
      if (!hello) continue;
      is_known[static_cast<size_t>(from)] = true;
      if (hello->request != digest) others.push_back(from);
    }
  }
  if (others.empty()) return {};
  std::ranges::sort(others);
  std::string text;
  for (const int other : others) text += (text.empty() ? "" : ", ") + rank_text(other);
  return {StatusCode::kInvalidArgument, text + ": another module than that of " + rank_text(rank_)};
}

// --- Messages. ---

Status RankChannel::send_control(int to, const ControlMessage& message) {
  std::string bytes = message.encode();
  Outgoing& sent = outgoing_.emplace_back();
  sent.bytes = std::move(bytes);
  sent.operation =
      transport_.send(to, control_tag_, sent.bytes.data(), static_cast<int64_t>(sent.bytes.size()));
  if (sent.operation != nullptr) return {};
  outgoing_.pop_back();
  return group_.fail();
}

Result<std::optional<ControlMessage>> RankChannel::take_control(int from) {
  const int64_t bytes = transport_.probe(from, control_tag_);
  if (bytes < -1) return group_.fail();
  if (bytes < 0) return std::optional<ControlMessage>();
  std::string text(static_cast<size_t>(bytes), '\0');
  void* const operation = transport_.receive(from, control_tag_, text.data(), bytes);
  if (operation == nullptr) return group_.fail();
  for (Pause pause;; pause()) {
    const int state = transport_.test(operation);
    if (state == SCOPEVM_TRANSPORT_FAILED) return group_.fail();
    if (state == SCOPEVM_TRANSPORT_DONE) break;
  }
  SCOPEVM_ASSIGN_OR_RETURN(ControlMessage message, ControlMessage::decode(text));
  return std::optional(std::move(message));
}

Status RankChannel::handle_messages() {
  // Only rank 0 and another rank exchange such messages.
  const int first = is_leader() ? 1 : 0, last = is_leader() ? ranks_ - 1 : 0;
  for (int from = first; from <= last; ++from)
    while (!is_over_) {  // the messages after it are those of the next session
      SCOPEVM_ASSIGN_OR_RETURN(std::optional<ControlMessage> message, take_control(from));
      if (!message) break;
      handle(from, *std::move(message));
    }
  return is_leader() && !stopped_.ok() ? abort_others() : Status();
}

void RankChannel::handle(int from, ControlMessage message) {
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
Status RankChannel::wait(Done is_done) {
  for (Pause pause;; pause(group_.has_idle_cpu())) {
    if (group_.has_failed()) return group_.health();  // the error of another channel
    SCOPEVM_RETURN_IF_ERROR(test_operations());
    SCOPEVM_RETURN_IF_ERROR(handle_messages());
    SCOPEVM_ASSIGN_OR_RETURN(const bool done, is_done());
    if (done) return {};
  }
}

// --- Waits. ---

Status RankChannel::settle() {
  if (transfers_.empty() && !group_.has_failed()) return {};
  SCOPEVM_RETURN_IF_ERROR(test_often());
  if (transfers_.empty()) return {};
  return wait([this]() -> Result<bool> {
    if (transfers_.empty()) return true;
    SCOPEVM_RETURN_IF_ERROR(stop_reason());
    return false;
  });
}

bool RankChannel::is_waiting_for_outcomes(bool is_first_look) {
  for (int looks = is_first_look ? kTestsBeforeWaits : 1; looks > 0; --looks)
    if (!is_leader() || group_.has_failed() || !test_operations().ok() || !handle_messages().ok() ||
        !stop_reason().ok() ||
        std::ranges::all_of(outcomes_.begin() + 1, outcomes_.end(), &Outcome::is_known))
      return false;
  return true;
}

// An error if the request must end.
Status RankChannel::stop_reason() const {
  if (!stopped_.ok() || !check_interrupts_) return stopped_;
  return check_interrupts_();
}

// --- Requests. ---

void RankChannel::start(uint64_t request) {
  request_ = request;
  set_active(true);
  std::ranges::fill(sent_, 0);
  std::ranges::fill(received_, 0);
  stopped_ = {};
  has_aborted_ = false;
  for (Outcome& outcome : outcomes_) outcome.is_known = false;
  end_.reset();
  stop_if_aborted();  // the message can precede next_request()
}

void RankChannel::set_active(bool is_active) {
  if (is_active != is_active_) group_.count_request(is_active ? 1 : -1);
  is_active_ = is_active;
}

void RankChannel::stop_if_aborted() {
  if (aborted_ == request_ && stopped_.ok())
    stopped_ = Status(StatusCode::kCancelled, "another rank failed");
}

Status RankChannel::begin(std::span<const int64_t> numbers,
                          std::function<Status()> check_interrupts) {
  const Status begun = runtime::without_exceptions([&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(group_.health());
    start(request_ + 1);
    check_interrupts_ = std::move(check_interrupts);
    const ControlMessage message{.kind = ControlMessage::Kind::kRequest,
                                 .request = request_,
                                 .numbers = group_.with_released(numbers)};
    for (int to = 1; to < ranks_; ++to) SCOPEVM_RETURN_IF_ERROR(send_control(to, message));
    return {};
  });
  if (begun.ok()) return begun;
  // Some of the ranks can have the request.
  if (is_active_) (void)group_.fail(begun);
  set_active(false);
  group_.return_channel(*this);
  return begun;
}

Status RankChannel::end(Status status, std::span<PoolUse> uses, std::span<const int> rank_of_pool) {
  bool is_ended = false;
  Status ended = runtime::without_exceptions([&] {
    Status result = end_request(std::move(status), uses, rank_of_pool);
    is_ended = true;
    return result;
  });
  if (!is_ended) ended = group_.fail(std::move(ended));
  if (group_.has_failed()) give_up_transfers();
  set_active(false);
  check_interrupts_ = {};
  if (is_leader()) group_.return_channel(*this);
  return ended;
}

Status RankChannel::end_request(Status status, std::span<PoolUse> uses,
                                std::span<const int> rank_of_pool) {
  if (status.ok()) status = settle();
  if (group_.health().ok()) {
    if (!stopped_.ok())
      status = stopped_;  // not the error of the transfer that it stopped
    else if (is_leader())
      stopped_ = status;
    const Status ended = is_leader() ? lead_end(uses, rank_of_pool) : follow_end(status, uses);
    if (status.ok()) status = ended;
  }
  Status broken = group_.health();
  return broken.ok() ? status : broken;
}

// After a failure, and at the end.
void RankChannel::give_up_transfers() {
  for (const Transfer& transfer : transfers_) transport_.cancel(transfer.operation);
  transfers_.clear();
  for (const Outgoing& sent : outgoing_) transport_.cancel(sent.operation);
  outgoing_.clear();
}

Status RankChannel::abort_others() {
  if (has_aborted_) return {};
  has_aborted_ = true;
  for (int to = 1; to < ranks_; ++to)
    if (!outcomes_[static_cast<size_t>(to)].is_known)
      SCOPEVM_RETURN_IF_ERROR(
          send_control(to, {.kind = ControlMessage::Kind::kAbort, .request = request_}));
  return {};
}

Status RankChannel::lead_end(std::span<PoolUse> uses, std::span<const int> rank_of_pool) {
  SCOPEVM_RETURN_IF_ERROR(wait([this]() -> Result<bool> {
    if (stopped_.ok()) stopped_ = check_interrupts_();
    return outgoing_.empty() &&
           std::ranges::all_of(outcomes_.begin() + 1, outcomes_.end(), &Outcome::is_known);
  }));
  const auto ranks = static_cast<size_t>(ranks_);
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

Status RankChannel::follow_end(const Status& status, std::span<const PoolUse> uses) {
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

Status RankChannel::drain_at_end() {
  const ControlMessage end = *std::exchange(end_, std::nullopt);
  SCOPEVM_RETURN_IF_ERROR(drain(end.numbers));
  return send_control(0, {.kind = ControlMessage::Kind::kDrained, .request = end.request});
}

Status RankChannel::drain(std::span<const int64_t> sent_here) {
  if (sent_here.size() != sent_.size())
    return {StatusCode::kDevice, "a rank sent an invalid message"};
  // The first transfers from a rank receive the messages that it has sent. No message matches the
  // others.
  std::vector<int64_t> left(sent_here.begin(), sent_here.end());
  for (size_t from = 0; from < left.size(); ++from) left[from] -= received_[from];
  std::erase_if(transfers_, [&](const Transfer& transfer) {
    if (!transfer.is_receive || --left[static_cast<size_t>(transfer.peer)] >= 0) return false;
    transport_.cancel(transfer.operation);
    return true;
  });
  std::vector<std::vector<std::byte>> unused;
  return wait([&]() -> Result<bool> {
    bool is_done = true;
    for (size_t from = 0; from < left.size(); ++from) {
      while (left[from] > 0) {
        const int peer = static_cast<int>(from);
        const int64_t bytes = transport_.probe(peer, data_tag_);
        if (bytes < -1) return group_.fail();
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

Result<bool> RankChannel::has_request() {
  if (group_.has_failed()) return group_.health();
  SCOPEVM_RETURN_IF_ERROR(test_operations());
  SCOPEVM_RETURN_IF_ERROR(handle_messages());
  return next_ || end_;
}

Result<std::optional<RankChannel::Begun>> RankChannel::next_request() {
  if (end_) {  // of a request that another rank failed after this one had ended it
    SCOPEVM_RETURN_IF_ERROR(drain_at_end());
    return std::optional<Begun>();
  }
  const ControlMessage next = *std::exchange(next_, std::nullopt);
  const std::span<const int64_t> numbers = next.numbers;
  if (numbers.empty() || numbers[0] < 0 || std::cmp_greater_equal(numbers[0], numbers.size()))
    return Status(StatusCode::kDevice, "rank 0 sent an invalid message");
  start(next.request);
  const auto released = numbers.subspan(1, static_cast<size_t>(numbers[0])),
             rest = numbers.subspan(1 + released.size());
  return std::optional(Begun{{released.begin(), released.end()}, {rest.begin(), rest.end()}});
}

}  // namespace scopevm::vm
