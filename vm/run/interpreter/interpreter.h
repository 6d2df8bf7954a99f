// Runs `main` of a verified module, or a variant of it, for one call, straight over the words of
// its bytecode.
#pragma once

#include <span>

#include "scopevm/session.h"
#include "scopevm/status.h"
#include "vm/run/bound_session.h"
#include "vm/run/call_context.h"

namespace scopevm::vm {

// REQUIRES: context.inputs passed bind_inputs (vm/run/bind.h), and context.begin() was called.
// On success context.results has every result and the accounts are final. On failure the caller
// ends the context.
Status interpret(BoundSession& session, CallContext& context, const CallOptions& options);

}  // namespace scopevm::vm
