// `scopevm serve --check`: what the models of a folder need.
#pragma once

#include "scopevm/status.h"
#include "tools/serve/server.h"

namespace scopevm::serve {

// Loads every model and prints, for each memory scope, the bytes of its constants, the largest
// bytes of a request, and how many such requests fit in the capacity. Errors: kInvalidModel (a
// model does not load, or its largest request does not fit), kNotFound (no such folder).
Status check(const ServerOptions& options);

}  // namespace scopevm::serve
