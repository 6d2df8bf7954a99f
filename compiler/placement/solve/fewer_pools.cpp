#include "compiler/placement/solve/fewer_pools.h"

namespace scopevm::compiler::placement {
namespace {

bool is_additional(const Pool& pool) {
  return pool.may_be_chosen && pool.scope != "global" && pool.scope != "global.workspace" &&
         pool.kind != PoolKind::kConstant && pool.kind != PoolKind::kStack;
}

Machine without(Machine machine, const std::vector<PoolIndex>& pools) {
  for (PoolIndex pool : pools) machine.pools[pool].may_be_chosen = false;
  return machine;
}

}  // namespace

std::vector<Machine> with_fewer_pools(const Machine& machine) {
  constexpr size_t kMostForSubsets = 3;  // 8 machines
  std::vector<PoolIndex> pools;
  for (PoolIndex pool : machine.pools.indices())
    if (is_additional(machine.pools[pool])) pools.push_back(pool);
  std::vector<Machine> machines = {machine};
  if (pools.size() > kMostForSubsets) {
    for (PoolIndex pool : pools) machines.push_back(without(machine, {pool}));
    machines.push_back(without(machine, pools));
    return machines;
  }
  for (PoolIndex pool : pools) {
    const size_t count = machines.size();
    for (size_t i = 0; i < count; ++i) machines.push_back(without(machines[i], {pool}));
  }
  return machines;
}

}  // namespace scopevm::compiler::placement
