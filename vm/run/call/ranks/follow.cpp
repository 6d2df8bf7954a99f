// See follow.h.
#include "vm/run/call/ranks/follow.h"

#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/without_exceptions.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/call/ranks/shapes.h"
#include "vm/run/call/ranks/state_memory.h"
#include "vm/run/call/request.h"
#include "vm/run/ranks/rank_group.h"

namespace scopevm::vm {
namespace {

// `numbers`: those of numbers_of() after the task.
Status run_call(const std::shared_ptr<BoundSession>& session, std::span<const int64_t> numbers,
                const StateBlocks& states, TraceSink* trace, RankChannel& channel) {
  if (numbers.empty()) return invalid_task();
  CallOptions options;
  options.request_id = static_cast<uint64_t>(numbers.front());
  if (options.request_id != kNotTraced) options.trace = trace;
  const auto request = std::make_shared<Request>(session);
  request->channel_of_rank_0 = &channel;
  SCOPEVM_RETURN_IF_ERROR(set_shapes(numbers.subspan(1), states, *request));
  return request->run_here(options);
}

Status follow_channel(const std::shared_ptr<BoundSession>& session, RankChannel& channel,
                      StateBlocks& states, TraceSink* trace) {
  while (true) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::optional<RankChannel::Begun> begun,
                             channel.next_request());
    if (!begun) return {};
    states.release(begun->released);
    const std::span<const int64_t> numbers = begun->numbers;
    if (numbers.empty()) return invalid_task();
    const auto task = static_cast<RankTask>(numbers.front());
    // Rank 0 reports the errors of the request.
    const Status status = runtime::without_exceptions([&] {
      return task == RankTask::kCall
                 ? run_call(session, numbers.subspan(1), states, trace, channel)
                 : states.run(task, numbers.subspan(1), channel);
    });
    // A call ends itself, unless it has failed before its first instruction.
    if (channel.is_active()) (void)channel.end(status, {}, {});
    SCOPEVM_RETURN_IF_ERROR(session->ranks()->health());
  }
}

}  // namespace

Status follow(const std::shared_ptr<BoundSession>& session, TraceSink* trace) {
  RankGroup* const ranks = session->ranks();
  if (ranks == nullptr || ranks->is_leader())
    return {StatusCode::kInvalidArgument, ranks == nullptr
                                              ? "the session has no transport: it has all ranks"
                                              : "this process is rank 0, which makes the calls"};
  StateBlocks states(*session);
  // An error of one channel ends all.
  const auto follow_one = [&](size_t channel) {
    Status ended = runtime::without_exceptions(
        [&] { return follow_channel(session, ranks->channel(channel), states, trace); });
    if (!ended.ok()) (void)ranks->fail(std::move(ended));
  };
  const Status started = runtime::without_exceptions([&]() -> Status {
    std::vector<std::jthread> threads;
    try {
      for (size_t i = 1; i < ranks->channels(); ++i) threads.emplace_back(follow_one, i);
    } catch (...) {
      (void)ranks->fail({StatusCode::kOutOfMemory, "cannot start a thread for each request"});
    }
    follow_one(0);
    return {};
  });
  return started.ok() ? ranks->health() : started;
}

}  // namespace scopevm::vm
