// The messages of a request: bytes of tensors, between two ranks; see rank_channel.h.
#include <algorithm>

#include "vm/run/ranks/rank_channel.h"
#include "vm/run/ranks/rank_group.h"

namespace scopevm::vm {
bool RankChannel::Transfer::conflicts(const void* data, int64_t bytes, bool is_write) const {
  const auto* const at = static_cast<const std::byte*>(data);
  return (is_write || is_receive) && begin < at + bytes && at < end;
}

Status RankChannel::transfer(int peer, void* data, int64_t bytes, bool is_receive,
                             TransferObserver observer) {
  // The memory plan reuses bytes as soon as the instructions permit it in their order.
  if (std::ranges::any_of(transfers_, [&](const Transfer& other) {
        return other.conflicts(data, bytes, is_receive);
      }))
    SCOPEVM_RETURN_IF_ERROR(settle());
  auto* at = static_cast<std::byte*>(data);
  for (int64_t left = bytes; left > 0; left -= SCOPEVM_TRANSPORT_MAX_BYTES) {
    const int64_t part = std::min(left, SCOPEVM_TRANSPORT_MAX_BYTES);
    SCOPEVM_RETURN_IF_ERROR(
        start_transfer(peer, at, part, is_receive, part == left ? observer : TransferObserver()));
    at += part;
  }
  return {};
}

Status RankChannel::start_transfer(int peer, std::byte* data, int64_t bytes, bool is_receive,
                                   TransferObserver observer) {
  Transfer& started = transfers_.emplace_back(
      Transfer{nullptr, peer, is_receive, data, data + bytes, {}, observer});
  if (observer.observer != nullptr) started.started = std::chrono::steady_clock::now();
  started.operation = is_receive ? transport_.receive(peer, data_tag_, data, bytes)
                                 : transport_.send(peer, data_tag_, data, bytes);
  if (started.operation == nullptr) {
    transfers_.pop_back();
    return group_.fail();
  }
  if (!is_receive) ++sent_[static_cast<size_t>(peer)];
  return {};
}

Status RankChannel::send(int to, const void* data, int64_t bytes, TransferObserver observer) {
  return transfer(to, const_cast<void*>(data), bytes, false, observer);
}

Status RankChannel::receive(int from, void* data, int64_t bytes, TransferObserver observer) {
  return transfer(from, data, bytes, true, observer);
}

Status RankChannel::share(int owner, int64_t& value) {
  if (owner != rank_) return receive(owner, &value, sizeof value);
  for (int to = 0; to < ranks_; ++to)
    if (to != rank_) SCOPEVM_RETURN_IF_ERROR(send(to, &value, sizeof value));
  return {};
}

bool RankChannel::accesses(const void* data, int64_t bytes, bool is_write) {
  const auto conflicts = [&](const Transfer& transfer) {
    return transfer.conflicts(data, bytes, is_write);
  };
  if (!std::ranges::any_of(transfers_, conflicts)) return false;
  return !test_operations().ok() || std::ranges::any_of(transfers_, conflicts);
}

// The times of the transfers of a request and a peer do not overlap.
void RankChannel::report(const Transfer& ended) {
  const auto now = std::chrono::steady_clock::now();
  auto& last = reported_[static_cast<size_t>(ended.peer)];
  ended.observer.observer->executed(ended.observer.command, std::max(ended.started, last), now);
  last = now;
}

Status RankChannel::test_operations() {
  bool has_failed = false;
  const auto has_ended = [&](void* operation) {
    if (has_failed) return false;
    const int state = transport_.test(operation);
    has_failed = state == SCOPEVM_TRANSPORT_FAILED;
    return state != SCOPEVM_TRANSPORT_PENDING;
  };
  std::erase_if(outgoing_, [&](const Outgoing& sent) { return has_ended(sent.operation); });
  std::erase_if(transfers_, [&](const Transfer& transfer) {
    if (!has_ended(transfer.operation)) return false;
    if (transfer.is_receive && !has_failed) ++received_[static_cast<size_t>(transfer.peer)];
    if (transfer.observer.observer != nullptr) report(transfer);
    return true;
  });
  return has_failed ? group_.fail() : Status();
}

Status RankChannel::test_often() {
  SCOPEVM_RETURN_IF_ERROR(group_.health());
  // Looking for failures of other ranks would take longer than a test.
  for (int i = 0; i < kTestsBeforeWaits && !transfers_.empty(); ++i)
    SCOPEVM_RETURN_IF_ERROR(test_operations());
  return {};
}

bool RankChannel::is_waiting(bool is_first_look) {
  if (transfers_.empty()) return false;
  const Status tested = is_first_look ? test_often() : test_operations();
  if (!tested.ok() || !handle_messages().ok()) return false;
  return !transfers_.empty() && stop_reason().ok();
}

}  // namespace scopevm::vm
