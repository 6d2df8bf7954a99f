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
  const std::vector<ValueId>& values_of(int buffer) const { return values_of_buffer_[buffer]; }

  // A step for each access of a buffer that may lie in another pool: the graph asks for none, and
  // whatever touches it does so by the pool that the plan says. Empty when it may not.
  std::optional<std::vector<int64_t>> accesses_if_free(int buffer) const;
  // Whether all of these steps could have their buffer in `pool`.
  bool may_use(const std::vector<int64_t>& accesses, int pool) const;

 private:
  void read_steps();
  bool may_use(const Step& step, int pool) const;
  int pool_of(ValueId id) const;

  const Program& program_;
  const Function& function_;
  const std::vector<int> outputs_;
  std::vector<Uses> uses_;  // by root value
  std::vector<std::vector<ValueId>> values_of_buffer_;
  std::vector<int64_t> step_of_scratch_;  // by buffer; -1: it is no scratch
};

}  // namespace scopevm::compiler::memory
