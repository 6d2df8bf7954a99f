// Moves random ops of a graph into functions, which the graph then calls, directly or through
// closures. The results of the graph do not change.
#pragma once

#include <string>

#include "tests/property/random/random_graph.h"

namespace scopevm::compiler::property {

// The assembly of the graph with up to four additional functions. Equal graphs give equal assembly.
std::string outlined(const GraphCase& graph);

}  // namespace scopevm::compiler::property
