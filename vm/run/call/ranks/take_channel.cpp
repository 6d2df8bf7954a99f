// See take_channel.h.
#include "vm/run/call/ranks/take_channel.h"

#include <thread>

#include "vm/run/admission/call_scheduler.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/ranks/pause.h"
#include "vm/run/ranks/rank_group.h"

namespace scopevm::vm {

Result<RankChannel*> take_channel(BoundSession& session,
                                  const std::function<Status()>& check_interrupts) {
  RankGroup& ranks = *session.ranks();
  CallScheduler* const scheduler = session.scheduler().get();
  if (scheduler == nullptr || !scheduler->is_own_thread())
    return ranks.take_channel(check_interrupts);
  for (Pause pause;;) {
    if (RankChannel* const channel = ranks.try_take_channel()) return channel;
    SCOPEVM_RETURN_IF_ERROR(check_interrupts());
    if (!scheduler->run_woken()) std::this_thread::sleep_for(pause.next_sleep());
  }
}

}  // namespace scopevm::vm
