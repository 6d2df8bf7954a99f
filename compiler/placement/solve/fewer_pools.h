// Machines with fewer pools to choose from. An additional pool never makes a placement more
// expensive if the placement without the pool is among the candidates.
#pragma once

#include <vector>

#include "compiler/machine/machine.h"

namespace scopevm::compiler::placement {

// The machine with some of its pools excluded from the choice (Pool::may_be_chosen): all subsets of
// the pools that its description adds to those that every device has. The first machine excludes
// none. If there are more than three such pools, each one alone is excluded, and all.
std::vector<Machine> with_fewer_pools(const Machine& machine);

}  // namespace scopevm::compiler::placement
