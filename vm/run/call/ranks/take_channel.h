// Waits for the requests of other calls on the ranks of a job.
#pragma once

#include <functional>

#include "scopevm/status.h"

namespace scopevm::vm {

class BoundSession;
class RankChannel;

// RankGroup::take_channel(). On a thread of the session's scheduler, runs other calls meanwhile:
// one that has a channel can wait for a thread.
Result<RankChannel*> take_channel(BoundSession& session,
                                  const std::function<Status()>& check_interrupts);

}  // namespace scopevm::vm
