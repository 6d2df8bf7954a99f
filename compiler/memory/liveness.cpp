// Computes lifespans from the steps of a function. A view extends the lifespan of its root value; a
// result may reuse the buffer of an operand whose last use is the same step.
#include <algorithm>
#include <map>

#include "compiler/memory/liveness.h"

namespace scopevm::compiler::memory {

namespace {

struct Loop {
  int64_t begin = 0, end = 0;  // the positions of its Loop and EndLoop steps
};

// Outer loops come before the loops inside them.
std::vector<Loop> loops_of(const Function& function) {
  std::vector<Loop> loops;
  for (size_t i = 0; i < function.steps.size(); ++i)
    if (const auto* end = function.steps[i].as<step::EndLoop>())
      loops.push_back({end->begin, static_cast<int64_t>(i)});
  std::ranges::sort(loops, {}, &Loop::begin);
  return loops;
}

}  // namespace

namespace {

// The first step that writes each root value; -1 for values that no step writes.
IndexedVector<ValueId, int64_t> first_writes(const Function& function) {
  IndexedVector<ValueId, int64_t> first(function.values.size(), -1);
  for (auto step = static_cast<int64_t>(function.steps.size()); step-- > 0;)
    for (ValueId result : function.steps[step].results) {
      const ValueId root = root_of(function, result);
      if (function.values[root].origin == ValueOrigin::kStep) first[root] = step;
    }
  return first;
}

}  // namespace

LastSteps last_uses(const Function& function) {
  const auto end = static_cast<int64_t>(function.steps.size());
  const IndexedVector<ValueId, int64_t> first = first_writes(function);
  LastSteps last(function.values.size());
  const std::vector<Loop> loops = loops_of(function);
  // If a loop uses a value that was computed before the loop, later iterations use it again. The
  // value is therefore live until the end of the outermost such loop. The first write of a value by
  // the Loop step itself is not such a use.
  auto use = [&](ValueId id, int64_t at) {
    ValueId root = root_of(function, id);
    for (const Loop& loop : loops)
      if (loop.begin <= at && at < loop.end && first[root] <= loop.begin &&
          !(at == loop.begin && first[root] == at)) {
        at = loop.end;
        break;
      }
    last[root] = std::max(last[root], std::optional(at));
  };
  for (int64_t step = 0; step < end; ++step) {
    for (ValueId operand : function.steps[step].operands) use(operand, step);
    for (ValueId result : function.steps[step].results)
      if (first[root_of(function, result)] < step) use(result, step);
  }
  for (ValueId output : function.outputs) last[root_of(function, output)] = end;
  for (ValueId id : function.values.indices())
    if (const std::optional<ValueId> partner = function.values[id].swap_partner)
      last[id] = last[*partner] = std::max(last[id], last[*partner]);
  return last;
}

// A value that is computed before an if, and last used by it or in a branch, is released at the end
// of the if. If only one branch released the value, its storage would leak when the other one runs.
LastSteps release_steps(const Function& function) {
  LastSteps releases = last_uses(function);
  const IndexedVector<ValueId, int64_t> first = first_writes(function);
  // In reverse order, outer ifs come before inner ones.
  for (auto at = static_cast<int64_t>(function.steps.size()); at-- > 0;) {
    const auto* end = function.steps[at].as<step::EndIf>();
    if (!end) continue;
    for (ValueId id : releases.indices())
      if (first[id] < end->begin && end->begin <= releases[id] && releases[id] < at)
        releases[id] = at;
  }
  return releases;
}

namespace {

class LifespanFinder {
 public:
  LifespanFinder(const Machine& machine, const Function& function)
      : machine_(machine),
        function_(function),
        is_output_(output_roots(function)),
        last_(last_uses(function)) {
    for (SegmentIndex segment : function.segments.indices())
      for (const RuntimeSymbol& defined : function.segments[segment].symbols)
        segments_.try_emplace(defined.symbol, segment);
  }

  Liveness run() {
    result_.buffer_of_value.resize(function_.values.size());
    for (size_t step = 0; step < function_.steps.size(); ++step) {
      visit(function_.steps[step], static_cast<int64_t>(step));
      std::vector<BufferIndex>& temporaries = result_.buffer_of_temporary.emplace_back();
      if (const auto* launch = function_.steps[step].as<step::Launch>())
        for (const Temporary& temporary : launch->temporaries)
          temporaries.push_back(add_temporary(*launch, temporary, static_cast<int64_t>(step)));
    }
    for (ValueId id : function_.values.indices())
      result_.buffer_of_value[id] = result_.buffer_of_value[root_of(function_, id)];
    return std::move(result_);
  }

 private:
  void visit(const Step& step, int64_t at) {
    for (size_t r = 0; r < step.results.size(); ++r) {
      ValueId id = step.results[r];
      const Value& value = function_.values[id];
      // A loop-carried value, a result of an if and a copy that a launch changes have several
      // writes; the first one makes the buffer.
      const bool is_written_before = result_.buffer_of_value[id].has_value();
      if (is_written_before || value.is_view() || is_output_[id] ||
          value.storage != ValueStorage::kPlanned)
        continue;
      const int64_t upper = std::max(last_[id].value_or(at), at) + 1;
      std::optional<BufferIndex> buffer = reusable_buffer(step, static_cast<int>(r), at);
      if (buffer)
        result_.buffers[*buffer].upper = upper;
      else
        buffer = add_buffer(at, upper, value.bytes(), value.place.pool);
      result_.buffer_of_value[id] = buffer;
    }
  }

  // The buffer of an operand that result r may reuse in place; none if there is none.
  std::optional<BufferIndex> reusable_buffer(const Step& step, int r, int64_t at) const {
    const auto* launch = step.as<step::Launch>();
    if (!launch) return std::nullopt;
    for (const step::Launch::InPlace& permission : launch->in_place) {
      if (permission.result != r) continue;
      const ValueId operand = root_of(function_, step.operands[permission.operand]);
      const std::optional<BufferIndex> buffer = result_.buffer_of_value[operand];
      bool dies_here = last_[operand] == at;
      // The permission is for one operand position. If the value is also another operand, the
      // kernel could read elements that it has already overwritten.
      bool is_read_once = std::count_if(step.operands.begin(), step.operands.end(), [&](ValueId o) {
                            return root_of(function_, o) == operand;
                          }) == 1;
      // Two results of one launch cannot share an operand's buffer.
      bool is_taken = std::any_of(step.results.begin(), step.results.begin() + r,
                                  [&](ValueId o) { return result_.buffer_of_value[o] == buffer; });
      if (buffer && dies_here && is_read_once && !is_taken &&
          function_.values[operand].place == function_.values[step.results[r]].place &&
          function_.values[operand].bytes() == function_.values[step.results[r]].bytes())
        return buffer;
    }
    return std::nullopt;
  }

  BufferIndex add_temporary(const step::Launch& launch, const Temporary& temporary, int64_t at) {
    // A grid of at most one grain runs as a single task, on one worker, so one instance suffices.
    const bool is_never_split = is_never_negative(launch.grain - launch.grid);
    DimExpr bytes = round_up(temporary.bytes, Pool::kLeastAlignment);  // of one instance
    if (temporary.per_worker && !is_never_split) bytes = bytes * DimExpr::symbol(kThreadsSymbol);
    return add_buffer(at, at + 1, bytes, temporary.pool);
  }

  // In a branch that is not taken, a size may evaluate to a negative number; the buffer is then
  // empty.
  BufferIndex add_buffer(int64_t lower, int64_t upper, DimExpr bytes, PoolIndex pool) {
    bytes =
        round_up(is_never_negative(bytes) ? bytes : max(bytes, 0), machine_.pools[pool].alignment);
    if (std::ranges::find(function_.stacks, pool) != function_.stacks.end())
      // A frame has a constant size; see stack.cpp.
      bytes = interval_of(bytes).max;
    SegmentIndex segment;
    for (const std::string& symbol : bytes.symbols())
      // A size is known once the last of its symbols is defined.
      if (auto defined = segments_.find(symbol); defined != segments_.end())
        segment = std::max(segment, defined->second);
    const BufferIndex buffer = result_.buffers.next_index();
    result_.buffers.push_back({lower, upper, bytes, segment, pool});
    return buffer;
  }

  const Machine& machine_;
  const Function& function_;
  const IndexedVector<ValueId, bool> is_output_;
  const LastSteps last_;
  std::map<std::string, SegmentIndex> segments_;  // by runtime-defined symbol
  Liveness result_;
};

}  // namespace

Liveness find_lifespans(const Machine& machine, const Function& function) {
  return LifespanFinder(machine, function).run();
}

void move_buffer(Function& function, const Liveness& liveness, BufferIndex buffer, PoolIndex pool) {
  // The function may have values that were added after the lifespans were computed.
  for (ValueId id : liveness.buffer_of_value.indices())
    if (liveness.buffer_of_value[id] == buffer) function.values[id].place.pool = pool;
  for (size_t step = 0; step < function.steps.size(); ++step) {
    const std::span<Temporary> temporaries = function.steps[step].temporaries();
    for (size_t t = 0; t < temporaries.size(); ++t)
      if (liveness.buffer_of_temporary[step][t] == buffer) temporaries[t].pool = pool;
  }
}

}  // namespace scopevm::compiler::memory
