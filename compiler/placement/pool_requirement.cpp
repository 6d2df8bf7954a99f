// Resolves and joins pool requirements; see the header.
#include "compiler/placement/pool_requirement.h"

namespace scopevm::compiler::placement {

PoolRequirement PoolRequirement::own_scope(std::string scope) {
  PoolRequirement requirement;
  requirement.value_ = OwnScope{std::move(scope)};
  return requirement;
}

std::optional<PoolIndex> PoolRequirement::pool() const {
  const PoolIndex* pool = std::get_if<PoolIndex>(&value_);
  return pool ? std::optional(*pool) : std::nullopt;
}

std::string_view PoolRequirement::scope(const Machine& machine) const {
  if (std::optional<PoolIndex> one = pool()) return machine.pools[*one].scope;
  return std::get<OwnScope>(value_).name;
}

std::optional<PoolIndex> PoolRequirement::on(const Machine& machine, DeviceIndex device) const {
  if (std::optional<PoolIndex> one = pool()) return one;
  return machine.find_pool(device, std::get<OwnScope>(value_).name);
}

std::optional<PoolRequirement> joined(const Machine& machine, const PoolRequirement& requirement,
                                      const PoolRequirement& other) {
  if (requirement.is_default()) return other;
  if (requirement == other) return requirement;
  // Two different pools conflict, and so do two different scopes. A pool and its own scope agree,
  // and the pool is the stronger requirement.
  if ((requirement.pool() && other.pool()) || requirement.scope(machine) != other.scope(machine))
    return std::nullopt;
  return requirement.pool() ? requirement : other;
}

}  // namespace scopevm::compiler::placement
