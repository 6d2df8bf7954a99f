// BufferUses: the steps that access each buffer of a function, and the other pools that could store
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/memory/liveness.h"

namespace scopevm::compiler::memory {

class BufferUses {
 public:
  struct Uses {
    std::vector<int64_t> writes;  // steps, in order
    std::vector<int64_t> reads;
    // Whether each access is by a Launch, Copy, Read, Assert or StringWork step, as an argument of
    // a call, or as the condition of an if.
    bool is_plain = true;
  };

  // REQUIRES: `liveness` is that of `function`. Keeps references to `program` and `function`, which
  // must outlive the object.
  BufferUses(const Program& program, const Function& function, const Liveness& liveness);

  // REQUIRES: `root` is not a view.
  const Uses& of_value(ValueId root) const { return uses_[root]; }
  // The values that steps write to the buffer, without views.
  const std::vector<ValueId>& values_of(BufferIndex buffer) const {
    return values_of_buffer_[buffer];
  }

  // The step of each access of the buffer, if the buffer is movable; else no value. It is movable
  // if none of its values has a required scope, a swap partner, or an access that is not plain.
  // Whether a given pool is possible is determined by may_use().
  std::optional<std::vector<int64_t>> accesses_if_free(BufferIndex buffer) const;
  // Whether all of these steps could access the buffer in `pool`.
  bool may_use(const std::vector<int64_t>& accesses, PoolIndex pool) const;

 private:
  void read_steps();
  bool may_use(const Step& step, PoolIndex pool) const;
  PoolIndex pool_of(ValueId id) const;

  const Program& program_;
  const Function& function_;
  const IndexedVector<ValueId, bool> is_output_;
  IndexedVector<ValueId, Uses> uses_;  // by root value
  IndexedVector<BufferIndex, std::vector<ValueId>> values_of_buffer_;
  // None for buffers of values.
  IndexedVector<BufferIndex, std::optional<int64_t>> step_of_scratch_;
};

}  // namespace scopevm::compiler::memory
