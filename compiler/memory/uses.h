// What touches the buffers of a function, and which other pools they may lie in.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/memory/plan.h"

namespace scopevm::compiler::memory {

class BufferUses {
 public:
  struct Uses {
    std::vector<int64_t> writes;  // steps, in order
    std::vector<int64_t> reads;
    bool is_plain = true;  // nothing but launches, copies and the VM's own reads touches it
  };

  // REQUIRES: `liveness` is that of `function`. Refers to `program` and `function` later on.
  BufferUses(const Program& program, const Function& function, const Liveness& liveness);

  // REQUIRES: `root` is no view.
  const Uses& of_value(ValueId root) const { return uses_[root]; }
  // Those that steps write, without views.
  const std::vector<ValueId>& values_of(BufferIndex buffer) const {
    return values_of_buffer_[buffer];
  }

  // A step for each access of a buffer that may lie in another pool: the graph asks for none, and
  // whatever touches it does so by the pool that the plan says. Empty when it may not.
  std::optional<std::vector<int64_t>> accesses_if_free(BufferIndex buffer) const;
  // Whether all of these steps could have their buffer in `pool`.
  bool may_use(const std::vector<int64_t>& accesses, PoolIndex pool) const;

 private:
  void read_steps();
  bool may_use(const Step& step, PoolIndex pool) const;
  PoolIndex pool_of(ValueId id) const;

  const Program& program_;
  const Function& function_;
  const IndexedVector<ValueId, bool> is_output_;
  IndexedVector<ValueId, Uses> uses_;  // of roots
  IndexedVector<BufferIndex, std::vector<ValueId>> values_of_buffer_;
  // None of buffers of values.
  IndexedVector<BufferIndex, std::optional<int64_t>> step_of_scratch_;
};

}  // namespace scopevm::compiler::memory
