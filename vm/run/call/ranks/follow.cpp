// See follow.h.
#include "vm/run/call/ranks/follow.h"

#include <optional>
#include <string>
#include <vector>

#include "vm/run/call/bound_session.h"
#include "vm/run/call/ranks/shapes.h"
#include "vm/run/call/request.h"
#include "vm/run/ranks/rank_group.h"

namespace scopevm::vm {

Status follow(const std::shared_ptr<BoundSession>& session) {
  RankGroup* const ranks = session->ranks();
  if (ranks == nullptr || ranks->is_leader())
    return {StatusCode::kInvalidArgument, ranks == nullptr
                                              ? "the session has no transport: it has all ranks"
                                              : "this process is rank 0, which makes the calls"};
  while (true) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::optional<std::vector<int64_t>> shapes,
                             ranks->next_request());
    if (!shapes) return {};
    const auto request = std::make_shared<Request>(session);
    request->is_of_rank_0 = true;
    SCOPEVM_RETURN_IF_ERROR(set_shapes(*shapes, *request));
    // Rank 0 reports the errors of the request.
    const Status status = request->run_here({});
    // It may have failed before its first instruction.
    if (ranks->is_active()) (void)ranks->end(status, {}, {});
    SCOPEVM_RETURN_IF_ERROR(ranks->health());
  }
}

}  // namespace scopevm::vm
