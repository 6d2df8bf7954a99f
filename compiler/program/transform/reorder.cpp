// Moves steps past peaks; see the header. A value that is live at a peak, but that the step at the
// peak does not access, is live for fewer steps if
//   * the step that makes it runs immediately before the next step that reads it, or
//   * the steps that read it later run before the step at the peak, or before the step that makes
//     the largest other buffer.
#include "compiler/program/transform/reorder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/memory/blocks.h"
#include "compiler/memory/live_bytes.h"
#include "compiler/memory/uses.h"

namespace scopevm::compiler::transform {
namespace {

using memory::Blocks;
using memory::BufferIndex;
using memory::BufferUses;
using memory::Liveness;
using memory::Request;

// The number of the largest buffers at a peak for which moves are sought.
constexpr size_t kMostBuffers = 12;
constexpr int kMostMoves = 32;  // of a function
// Limits the time: a move is evaluated in time proportional to the steps.
constexpr size_t kMostStepsEvaluated = 200'000;

// The steps, ascending, run immediately before the step `before`.
struct StepMove {
  std::vector<int64_t> steps;
  int64_t before = 0;
};

class Reorderer {
 public:
  Reorderer(const Program& program, Function& function)
      : program_(program),
        function_(function),
        request_(memory::sample_requests(function, 0).front()) {}

  void run() {
    Order now = evaluate();
    for (int moves = 0; moves < kMostMoves && steps_evaluated_ < kMostStepsEvaluated; ++moves) {
      const std::vector<Step> steps = function_.steps;
      std::vector<Step> best_steps;
      Order best = now;
      for (const StepMove& move : find_moves(now)) {
        apply(move);
        if (keeps_data_flow())
          if (Order order = evaluate(); order.rank() < best.rank()) {
            best = std::move(order);
            best_steps = function_.steps;
          }
        function_.steps = steps;
      }
      if (best_steps.empty()) return;
      function_.steps = std::move(best_steps);
      now = std::move(best);
    }
  }

 private:
  // The peak of an arena, and the largest buffers that are live there.
  struct Peak {
    int64_t step = 0;
    std::vector<BufferIndex> live;
  };
  struct Order {
    Liveness liveness;
    std::vector<Peak> peaks;
    int64_t bytes = 0;  // of all peaks
    int64_t steps = 0;  // that are peaks: functions with repeated layers have several equal ones

    std::pair<int64_t, int64_t> rank() const { return {bytes, steps}; }
  };

  // Evaluates the current order of the steps. Has no peaks if the sizes are unknown.
  Order evaluate() {
    const size_t count = function_.steps.size();
    steps_evaluated_ += count;
    Order order{.liveness = memory::find_lifespans(program_.machine, function_)};
    std::map<std::pair<SegmentIndex, PoolIndex>, std::vector<BufferIndex>> arenas;
    for (BufferIndex buffer : order.liveness.buffers.indices()) {
      const Liveness::Lifespan& lifespan = order.liveness.buffers[buffer];
      arenas[{lifespan.segment, lifespan.pool}].push_back(buffer);
    }
    for (const auto& [key, members] : arenas) {
      const auto sizes = memory::sizes_at(order.liveness, members, request_);
      if (!sizes) continue;
      const std::vector<memory::SizedBuffer> buffers =
          memory::sized_buffers(order.liveness, members, *sizes);
      const std::vector<int64_t> live = memory::live_bytes(buffers, count);
      const MemoryPeak peak = memory::peak_of(live);
      order.bytes += peak.bytes;
      order.steps += std::ranges::count(live, peak.bytes);
      Peak& found = order.peaks.emplace_back(peak.step);
      for (int64_t i : memory::live_at(buffers, peak.step))
        if (found.live.size() < kMostBuffers) found.live.push_back(members[i]);
    }
    return order;
  }

  std::vector<StepMove> find_moves(const Order& order) const {
    const BufferUses uses(program_, function_, order.liveness);
    const Blocks blocks(function_, request_);
    std::vector<StepMove> moves;
    for (const Peak& peak : order.peaks)
      for (BufferIndex buffer : peak.live)
        for (ValueId value : uses.values_of(buffer)) {
          const auto other =
              std::ranges::find_if(peak.live, [&](BufferIndex other) { return other != buffer; });
          const int64_t first =
              other == peak.live.end() ? peak.step : order.liveness.buffers[*other].lower;
          add_moves(uses.of_value(value), value, first, peak.step, blocks, moves);
        }
    std::erase_if(moves, [&](const StepMove& move) {
      return !std::ranges::all_of(move.steps, [&](int64_t step) {
        return blocks.of_step[step] == blocks.of_step[move.before] &&
               is_movable(function_.steps[step], uses, /*is_earlier=*/move.before < step);
      });
    });
    return moves;
  }

  // Adds the moves after which the value is not live at the peak. `first` is the step that makes
  // the largest other buffer.
  void add_moves(const BufferUses::Uses& uses, ValueId value, int64_t first, int64_t peak,
                 const Blocks& blocks, std::vector<StepMove>& moves) const {
    if (!is_written_once(uses, value) || uses.writes.front() >= peak) return;
    const int64_t made = uses.writes.front();
    const int home = blocks.of_step[made];
    if (!blocks.contains(home, peak)) return;
    StepMove later{{made}}, earlier{{}, blocks.access_from(home, peak).begin};
    for (int64_t read : uses.reads) {
      const Blocks::Access access = blocks.access_from(home, read);
      if (access.begin > peak) {
        if (earlier.steps.empty()) later.before = access.begin;
        earlier.steps.push_back(read);
      } else if (access.end >= peak) {
        return;  // the step itself, or a block that contains it, reads the value
      }
    }
    if (earlier.steps.empty()) return;
    moves.push_back(std::move(later));
    moves.push_back(earlier);
    if (made < first && first < peak && blocks.contains(home, first))
      moves.push_back({earlier.steps, blocks.access_from(home, first).begin});
  }

  bool is_written_once(const BufferUses::Uses& uses, ValueId root) const {
    const Value& value = function_.values[root];
    return value.origin != ValueOrigin::kStep ||
           (uses.is_plain && uses.writes.size() == 1 && !value.swap_partner);
  }

  // Whether the step has no effect but its results, and each of its values is written once. At an
  // earlier position the sizes that depend on data would be unknown.
  bool is_movable(const Step& step, const BufferUses& uses, bool is_earlier) const {
    const auto is_plain = [&](ValueId id) {
      const ValueId root = root_of(function_, id);
      const Value& value = function_.values[id];
      return is_written_once(uses.of_value(root), root) && !value.is_list() &&
             value.origin != ValueOrigin::kPart &&
             !(is_earlier && std::ranges::any_of(value.shape, is_runtime_defined));
    };
    return step.is<step::Launch, step::Copy>() && std::ranges::all_of(step.operands, is_plain) &&
           std::ranges::all_of(step.results, is_plain) &&
           !(is_earlier && std::ranges::any_of(step.expressions(), is_runtime_defined));
  }

  void apply(const StepMove& move) {
    std::vector<Step> steps;
    std::vector<int64_t> now_at(function_.steps.size());
    const auto append = [&](int64_t at) {
      now_at[at] = static_cast<int64_t>(steps.size());
      steps.push_back(std::move(function_.steps[at]));
    };
    for (int64_t at = 0; at < std::ssize(function_.steps); ++at) {
      if (at == move.before) std::ranges::for_each(move.steps, append);
      if (!std::ranges::binary_search(move.steps, at)) append(at);
    }
    for (Step& step : steps)
      // Else, EndIf and EndLoop refer to their opening marks by position.
      if (const std::optional<int64_t> begin = step.begin()) step.set_begin(now_at[*begin]);
    function_.steps = std::move(steps);
  }

  // Whether each operand is written before it is read.
  bool keeps_data_flow() const {
    IndexedVector<ValueId, bool> is_written(function_.values.size());
    for (const Step& step : function_.steps) {
      for (ValueId operand : step.operands)
        if (const ValueId root = root_of(function_, operand);
            function_.values[root].origin == ValueOrigin::kStep && !is_written[root])
          return false;
      for (ValueId result : step.results) is_written[root_of(function_, result)] = true;
    }
    return true;
  }

  const Program& program_;
  Function& function_;
  const Request request_;
  size_t steps_evaluated_ = 0;
};

}  // namespace

void reorder_steps(Program& program) {
  for (Function& function : program.functions) Reorderer(program, function).run();
}

}  // namespace scopevm::compiler::transform
