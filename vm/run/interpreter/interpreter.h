// Interprets the bytecode of `main` or a variant for one call. The module must be verified.
#pragma once

#include <span>

#include "scopevm/session.h"
#include "scopevm/status.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/call/call_context.h"
#include "vm/run/call/interrupts.h"

namespace scopevm::vm {

// On success the request of the context has every result and the memory accounts are final. The
// caller must call context.end() afterwards, also after a failure. REQUIRES: context.begin() was
// called and bind_inputs() succeeded (vm/run/call/bind.h).
Status interpret(BoundSession& session, CallContext& context, const RunOptions& options);

}  // namespace scopevm::vm
