// The requests of rank 0 on another rank of a job.
#pragma once

#include <memory>

#include "scopevm/status.h"

namespace scopevm {
class TraceSink;
}  // namespace scopevm

namespace scopevm::vm {

class BoundSession;

// Session::follow().
Status follow(const std::shared_ptr<BoundSession>& session, TraceSink* trace);

}  // namespace scopevm::vm
