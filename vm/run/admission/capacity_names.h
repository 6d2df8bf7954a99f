// Checks the names of the scheduler's capacities against the pools of a module.
#pragma once

#include <string>
#include <vector>

#include "scopevm/scheduler.h"
#include "scopevm/status.h"

namespace scopevm::vm {

// `pools`: the qualified names of the module's pools ("cpu.global.workspace"). A capacity can be
// for a pool of another module. Errors: kInvalidArgument (there are capacities, but none for the
// module, or a name is a misspelling of a pool that has no capacity).
Status check_capacity_names(const std::vector<PoolUse>& capacities,
                            const std::vector<std::string>& pools);

}  // namespace scopevm::vm
