// Chooses the schedules of pooling; see pooling.h.
#include "compiler/schedule/pooling.h"

#include <algorithm>

#include "compiler/schedule/convolution.h"

namespace scopevm::compiler::schedule {

std::string PoolSchedule::text() const {
  return std::to_string(lanes) + " lanes, " + std::to_string(shared_columns) + " shared columns";
}

PoolSchedule choose_pool(const PoolProblem& problem, const Target& target) {
  // Elements with a larger stride would be gathered.
  constexpr int64_t kMostStride = 2;
  // The columns of a window are in registers.
  constexpr int64_t kMostColumns = 13;
  PoolSchedule schedule;
  if (problem.axes.back().stride <= kMostStride && !problem.is_converted)
    schedule.lanes = target.lanes(problem.element_bytes);
  if (!problem.is_blocked || schedule.lanes == 1 || kChannelBlock % schedule.lanes != 0)
    return schedule;
  const PoolAxis& along = problem.axes[problem.axes.size() - 2];
  if (along.dilation == 1 && along.kernel <= kMostColumns)
    schedule.shared_columns = std::max<int64_t>(along.kernel - along.stride, 0);
  return schedule;
}

}  // namespace scopevm::compiler::schedule
