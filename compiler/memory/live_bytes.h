// The live bytes of an arena at each step.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/memory/samples.h"
#include "scopevm/memory_explanation.h"

namespace scopevm::compiler::memory {

struct SizedBuffer {
  int64_t lower = 0;  // live in steps [lower, upper)
  int64_t upper = 0;
  int64_t size = 0;  // bytes
};
// By position in `members`.
std::vector<SizedBuffer> sized_buffers(const Liveness& liveness,
                                       const std::vector<BufferIndex>& members,
                                       const std::vector<int64_t>& sizes);

// By step.
std::vector<int64_t> live_bytes(const std::vector<SizedBuffer>& buffers, size_t steps);

// The first step with the most live bytes. REQUIRES: `live` is not empty.
MemoryPeak peak_of(const std::vector<int64_t>& live);

// The peak among the steps at which a buffer is live that is not live at `peak`; none if there is
// no such step.
std::optional<MemoryPeak> next_peak(const std::vector<SizedBuffer>& buffers,
                                    const std::vector<int64_t>& live, int64_t peak);

// Positions in `buffers`, largest first, without empty buffers.
std::vector<int64_t> live_at(const std::vector<SizedBuffer>& buffers, int64_t step);

}  // namespace scopevm::compiler::memory
