// The request on the other ranks of a job; see vm/run/ranks/rank_channel.h.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "runtime/without_exceptions.h"
#include "vm/run/call/interrupts.h"
#include "vm/run/call/ranks/shapes.h"
#include "vm/run/call/ranks/take_channel.h"
#include "vm/run/interpreter/element.h"
#include "vm/run/interpreter/interpreter_class.h"
#include "vm/run/ranks/pause.h"
#include "vm/run/ranks/rank_group.h"
#include "vm/run/ranks/remote_device.h"
#include "vm/run/ranks/remote_memory.h"

namespace scopevm::vm {

Status Interpreter::begin_on_ranks() {
  RankGroup* const ranks = session_.ranks();
  if (ranks == nullptr) return {};
  if (options_.hook != nullptr)
    return {StatusCode::kUnsupported, "an execution hook sees one rank only: run without ranks"};
  const Request& request = *context_.request;
  if (ranks->is_leader()) {
    for (size_t i = 0; i < request.inputs.size(); ++i)
      if (session_.rank_of_input(i) != 0 && !is_remote(request.inputs[i].data()))
        return {StatusCode::kInvalidArgument,
                "input \"" + session_.module().input_names()[i] + "\" is in memory of rank " +
                    std::to_string(session_.rank_of_input(i)) + ": only a state can be its value"};
    const auto check = [this] { return vm::check_interrupts(options_); };
    const std::vector<int64_t> numbers = numbers_of(request, options_);
    SCOPEVM_ASSIGN_OR_RETURN(RankChannel* const channel, take_channel_on_ranks(check));
    // Does not throw: a failure returns the channel.
    SCOPEVM_RETURN_IF_ERROR(on_thread([&] { return channel->begin(numbers, check); }));
    channel_ = channel;
  } else {
    channel_ = request.channel_of_rank_0;
    if (channel_ == nullptr)
      return {StatusCode::kInvalidArgument,
              "this process is rank " + std::to_string(ranks->rank()) +
                  ": its session runs the requests of rank 0 (Session::follow())"};
  }
  for (uint32_t i = 0; i < contents_.devices.size(); ++i)
    if (is_on_other_rank(i)) static_cast<RemoteStream&>(*context_.streams[i]).use(*channel_);
  return {};
}

template <typename Check>
Result<RankChannel*> Interpreter::take_channel_on_ranks(const Check& check) {
  if (options_.fiber == nullptr) return take_channel(session_, check);
  for (Pause pause;; sleep(pause)) {
    if (RankChannel* const channel = session_.ranks()->try_take_channel()) return channel;
    SCOPEVM_RETURN_IF_ERROR(check());
  }
}

void Interpreter::sleep(Pause& pause) {
  options_.fiber->sleep_until(std::chrono::steady_clock::now() + pause.next_sleep());
}

// Transports do not notify.
void Interpreter::wait_while(bool (RankChannel::*is_waiting)(bool is_first_look)) {
  if (options_.fiber == nullptr) return;
  bool is_first = true;
  for (Pause pause; on_thread([&] { return (channel_->*is_waiting)(is_first); }); sleep(pause))
    is_first = false;
}

void Interpreter::wait_for_ranks() { wait_while(&RankChannel::is_waiting); }

// The accounts of pools of other ranks become theirs.
void Interpreter::end_on_ranks() {
  std::vector<PoolAccount>& pools = context_.pools();
  std::vector<RankChannel::PoolUse> uses;
  const Status counted = runtime::without_exceptions([&]() -> Status {
    for (const PoolAccount& pool : pools) uses.push_back({pool.peak_bytes, pool.allocations});
    return {};
  });
  if (!counted.ok()) uses.clear();
  if (status_.ok()) status_ = counted;
  if (status_.ok())
    status_ = runtime::without_exceptions([&]() -> Status {
      wait_for_ranks();
      wait_while(&RankChannel::is_waiting_for_outcomes);
      return {};
    });
  status_ =
      on_thread([&] { return channel_->end(std::move(status_), uses, session_.rank_of_pool()); });
  for (size_t i = 0; i < uses.size(); ++i) {
    pools[i].peak_bytes = uses[i].peak_bytes;
    pools[i].allocations = uses[i].allocations;
  }
}

bool Interpreter::is_of_other_rank(uint32_t pool) const {
  return session_.rank_of_pool()[pool] != session_.ranks()->rank();
}

// All ranks use the element, for instance as a size or a condition.
bool Interpreter::share_element(const Register& of, int64_t index, int64_t& slot) {
  const bool is_here = !is_remote(of.data);
  if (is_here) slot = element(of, index);
  const int owner = is_here ? session_.ranks()->rank() : rank_of(of.data);
  status_ = on_thread([&] { return channel_->share(owner, slot); });
  if (!status_.ok()) return false;
  wait_for_ranks();
  status_ = on_thread([&] { return channel_->settle(); });
  return status_.ok();
}

}  // namespace scopevm::vm
