// See turn.h.
#include "vm/run/call/ranks/turn.h"

#include <thread>

#include "vm/run/admission/call_scheduler.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/ranks/pause.h"
#include "vm/run/ranks/rank_group.h"

namespace scopevm::vm {

Status take_turn(BoundSession& session, const std::function<Status()>& check_interrupts) {
  RankGroup& ranks = *session.ranks();
  CallScheduler* const scheduler = session.scheduler().get();
  if (scheduler == nullptr || !scheduler->is_own_thread()) return ranks.take_turn(check_interrupts);
  for (Pause pause; !ranks.try_take_turn();) {
    SCOPEVM_RETURN_IF_ERROR(check_interrupts());
    if (!scheduler->run_woken()) std::this_thread::sleep_for(pause.next_sleep());
  }
  return {};
}

}  // namespace scopevm::vm
