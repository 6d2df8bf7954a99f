// Lifespans: the steps in which each buffer of a function holds a value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/program/program.h"

namespace scopevm::compiler::memory {

using BufferIndex = isa::Index<struct BufferTag>;  // Liveness::buffers

// The lifespans of a function's buffers, and the buffer that holds each value and temporary.
struct Liveness {
  struct Lifespan {
    int64_t lower = 0;
    int64_t upper = 0;
    DimExpr bytes;         // rounded up to the pool's alignment
    SegmentIndex segment;  // the segment in which `bytes` becomes known
    PoolIndex pool;
  };
  IndexedVector<BufferIndex, Lifespan> buffers;
  // None for values that are not planned.
  IndexedVector<ValueId, std::optional<BufferIndex>> buffer_of_value;
  std::vector<std::vector<BufferIndex>> buffer_of_temporary;  // by step and temporary
};

// A step index for each root value; none for unused values.
using LastSteps = IndexedVector<ValueId, std::optional<int64_t>>;
// The last step that reads or overwrites the value; the number of steps if it is an output. The
// last step of a value that is computed before a loop and used in it is the end of the loop or a
// later step. Swap partners have the same last step.
LastSteps last_uses(const Function& function);

// The step after which a register must release the storage of a root value. This is the last use,
// with one exception: if that is an If step or a step in a branch, and the value was computed
// before the if, it is the end of the if.
LastSteps release_steps(const Function& function);

// Computes lifespans and reuses buffers in place where kernels permit it.
Liveness find_lifespans(const Machine& machine, const Function& function);

// Changes the pool of all values and temporaries that `buffer` holds.
void move_buffer(Function& function, const Liveness& liveness, BufferIndex buffer, PoolIndex pool);

}  // namespace scopevm::compiler::memory
