// Reads --allocator into the allocators of a session.
#pragma once

#include <string>

#include "scopevm/session.h"

namespace scopevm::tool {

// Creates the allocators of `scope` from NAME[:OPTION=VALUE,...]: see make_allocator_from_text().
// In addition, "planned" has the option plan=FILE, a plan in CSV form. Errors: kInvalidArgument,
// kNotFound (no such allocator or file), kInvalidModel (the plan).
Result<ScopeAllocator> parse_scope_allocator(const std::string& scope, const std::string& text);

}  // namespace scopevm::tool
