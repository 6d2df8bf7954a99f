// PoolRequirement: the pool in which a task makes or reads a value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "compiler/machine/machine.h"

namespace scopevm::compiler::placement {

// One of: any pool that the task's device reaches; one given pool; one scope of the task's device.
class PoolRequirement {
 public:
  PoolRequirement() = default;  // any reachable pool
  PoolRequirement(PoolIndex pool) : value_(pool) {}
  static PoolRequirement own_scope(std::string scope = "global");

  bool is_any() const { return std::holds_alternative<std::monostate>(value_); }
  // Any reachable pool, or "global" of the task's device: the requirements of unconstrained tasks.
  bool is_default() const { return is_any() || *this == own_scope(); }
  // The pool, if the requirement names one.
  std::optional<PoolIndex> pool() const;
  // The required scope, or the scope of the required pool. REQUIRES: !is_any().
  std::string_view scope(const Machine& machine) const;
  // The required pool for a task on `device`; none if the device lacks the scope.
  // REQUIRES: !is_any().
  std::optional<PoolIndex> on(const Machine& machine, DeviceIndex device) const;

  friend bool operator==(const PoolRequirement&, const PoolRequirement&) = default;

 private:
  struct OwnScope {
    std::string name;
    friend bool operator==(const OwnScope&, const OwnScope&) = default;
  };
  std::variant<std::monostate, PoolIndex, OwnScope> value_;
};

// A requirement that satisfies both; none if they conflict. `other` replaces a default
// `requirement`. REQUIRES: !other.is_any().
std::optional<PoolRequirement> joined(const Machine& machine, const PoolRequirement& requirement,
                                      const PoolRequirement& other);

}  // namespace scopevm::compiler::placement
