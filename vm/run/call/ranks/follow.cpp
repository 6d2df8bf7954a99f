// See follow.h.
#include "vm/run/call/ranks/follow.h"

#include <optional>
#include <span>
#include <string>

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
                const StateBlocks& states, TraceSink* trace) {
  if (numbers.empty()) return invalid_task();
  CallOptions options;
  options.request_id = static_cast<uint64_t>(numbers.front());
  if (options.request_id != kNotTraced) options.trace = trace;
  const auto request = std::make_shared<Request>(session);
  request->is_of_rank_0 = true;
  SCOPEVM_RETURN_IF_ERROR(set_shapes(numbers.subspan(1), states, *request));
  return request->run_here(options);
}

}  // namespace

Status follow(const std::shared_ptr<BoundSession>& session, TraceSink* trace) {
  RankGroup* const ranks = session->ranks();
  if (ranks == nullptr || ranks->is_leader())
    return {StatusCode::kInvalidArgument, ranks == nullptr
                                              ? "the session has no transport: it has all ranks"
                                              : "this process is rank 0, which makes the calls"};
  StateBlocks states(*session);
  while (true) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::optional<RankGroup::Begun> begun, ranks->next_request());
    if (!begun) return {};
    states.release(begun->released);
    const std::span<const int64_t> numbers = begun->numbers;
    if (numbers.empty()) return invalid_task();
    const auto task = static_cast<RankTask>(numbers.front());
    // Rank 0 reports the errors of the request.
    const Status status = runtime::without_exceptions([&] {
      return task == RankTask::kCall ? run_call(session, numbers.subspan(1), states, trace)
                                     : states.run(task, numbers.subspan(1));
    });
    // A call ends itself, unless it has failed before its first instruction.
    if (ranks->is_active()) (void)ranks->end(status, {}, {});
    SCOPEVM_RETURN_IF_ERROR(ranks->health());
  }
}

}  // namespace scopevm::vm
