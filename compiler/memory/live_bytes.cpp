#include "compiler/memory/live_bytes.h"

#include <algorithm>

namespace scopevm::compiler::memory {

std::vector<SizedBuffer> sized_buffers(const Liveness& liveness,
                                       const std::vector<BufferIndex>& members,
                                       const std::vector<int64_t>& sizes) {
  std::vector<SizedBuffer> buffers;
  for (size_t i = 0; i < members.size(); ++i) {
    const Liveness::Lifespan& lifespan = liveness.buffers[members[i]];
    buffers.push_back({lifespan.lower, lifespan.upper, sizes[i]});
  }
  return buffers;
}

std::vector<int64_t> live_bytes(const std::vector<SizedBuffer>& buffers, size_t steps) {
  // The changes at each step, then their prefix sums.
  std::vector<int64_t> live(steps + 1);
  for (const SizedBuffer& buffer : buffers) {
    live[buffer.lower] += buffer.size;
    live[std::min<int64_t>(buffer.upper, static_cast<int64_t>(steps))] -= buffer.size;
  }
  for (size_t step = 1; step < steps; ++step) live[step] += live[step - 1];
  live.resize(steps);
  return live;
}

MemoryPeak peak_of(const std::vector<int64_t>& live) {
  const auto most = std::ranges::max_element(live);
  return {.step = most - live.begin(), .bytes = *most};
}

std::optional<MemoryPeak> next_peak(const std::vector<SizedBuffer>& buffers,
                                    const std::vector<int64_t>& live, int64_t peak) {
  // Whether a buffer is live at the step that is not live at the peak.
  std::vector<int64_t> others(live.size() + 1);
  for (const SizedBuffer& buffer : buffers) {
    if (buffer.size == 0 || (buffer.lower <= peak && peak < buffer.upper)) continue;
    ++others[buffer.lower];
    --others[std::min<int64_t>(buffer.upper, static_cast<int64_t>(live.size()))];
  }
  std::optional<MemoryPeak> next;
  int64_t count = 0;
  for (size_t step = 0; step < live.size(); ++step) {
    count += others[step];
    if (count > 0 && (!next || live[step] > next->bytes))
      next = {.step = static_cast<int64_t>(step), .bytes = live[step]};
  }
  return next;
}

std::vector<int64_t> live_at(const std::vector<SizedBuffer>& buffers, int64_t step) {
  std::vector<int64_t> live;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].lower <= step && step < buffers[i].upper && buffers[i].size > 0)
      live.push_back(static_cast<int64_t>(i));
  std::ranges::stable_sort(live, std::greater(), [&](int64_t i) { return buffers[i].size; });
  return live;
}

}  // namespace scopevm::compiler::memory
