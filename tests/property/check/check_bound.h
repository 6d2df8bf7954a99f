// Checks the memory bounds of a module against each other.
#pragma once

#include <string>

#include "scopevm/module.h"
#include "tests/property/random/random_graph.h"

namespace scopevm::compiler::property {

// Compares Module::bound() for dims with memory_bound(), and largest_bound() over these dims and
// their successors with the largest of these requests. Returns what differs, or "".
std::string wrong_bound(const Module& module, const Symbols& symbols);

}  // namespace scopevm::compiler::property
