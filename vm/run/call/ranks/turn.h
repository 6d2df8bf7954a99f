// Waits for the ranks of a session.
#pragma once

#include <functional>

#include "scopevm/status.h"

namespace scopevm::vm {

class BoundSession;

// RankGroup::take_turn(). On a thread of the session's scheduler, runs other calls meanwhile: the
// one that has the turn can wait for a thread.
Status take_turn(BoundSession& session, const std::function<Status()>& check_interrupts);

}  // namespace scopevm::vm
