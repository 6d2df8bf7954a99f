// Steps -> lifespans. A view keeps what it shows alive; a result may take the buffer of an operand
// that dies at its step.
#include <algorithm>
#include <map>

#include "compiler/memory/plan.h"

namespace scopevm::compiler::memory {

namespace {

bool is_view(const Value& value) {
  return value.origin == ValueOrigin::kView || value.origin == ValueOrigin::kPart;
}

}  // namespace

ValueId root_of(const Function& function, ValueId id) {
  while (is_view(function.values[id])) id = function.values[id].view_of;
  return id;
}

int result_pool(const Machine& machine, const Value& value) {
  const Place& place = value.place;
  const bool is_inner = place.pool == machine.workspace_pool(place.device) ||
                        place.pool == machine.constant_pool(place.device);
  return is_inner ? machine.global_pool(place.device) : place.pool;
}

std::vector<int> output_of_root(const Function& function) {
  std::vector<int> output(function.values.size(), -1);
  for (size_t i = function.outputs.size(); i-- > 0;)
    output[root_of(function, function.outputs[i])] = static_cast<int>(i);
  return output;
}

namespace {

struct Loop {
  int64_t begin = 0, end = 0;  // its marks
};

// Outer loops come before the loops inside them.
std::vector<Loop> loops_of(const Function& function) {
  std::vector<Loop> loops;
  for (size_t i = 0; i < function.steps.size(); ++i)
    if (function.steps[i].kind == StepKind::kEndLoop)
      loops.push_back({function.steps[i].match, static_cast<int64_t>(i)});
  std::ranges::sort(loops, {}, &Loop::begin);
  return loops;
}

}  // namespace

std::vector<int64_t> last_uses(const Function& function) {
  const auto end = static_cast<int64_t>(function.steps.size());
  std::vector<int64_t> first(function.values.size(), end), last(function.values.size(), -1);
  for (int64_t step = end; step-- > 0;)
    for (ValueId result : function.steps[step].results) first[root_of(function, result)] = step;
  for (size_t id = 0; id < function.values.size(); ++id)
    if (function.values[id].origin != ValueOrigin::kStep) first[id] = -1;
  const std::vector<Loop> loops = loops_of(function);
  // What is made before a loop and used in it is used until its last iteration ends.
  auto use = [&](ValueId id, int64_t at) {
    ValueId root = root_of(function, id);
    for (const Loop& loop : loops)
      if (loop.begin <= at && at < loop.end && first[root] <= loop.begin &&
          !(at == loop.begin && first[root] == at)) {
        at = loop.end;
        break;
      }
    last[root] = std::max(last[root], at);
  };
  for (int64_t step = 0; step < end; ++step) {
    for (ValueId operand : function.steps[step].operands) use(operand, step);
    for (ValueId result : function.steps[step].results)
      if (first[root_of(function, result)] < step) use(result, step);
  }
  for (ValueId output : function.outputs) last[root_of(function, output)] = end;
  for (size_t id = 0; id < function.values.size(); ++id)
    if (ValueId twin = function.values[id].twin; twin >= 0)
      last[id] = last[twin] = std::max(last[id], last[twin]);
  return last;
}

// What only one branch uses, the other would keep.
std::vector<int64_t> release_steps(const Function& function) {
  std::vector<int64_t> releases = last_uses(function);
  const auto steps = static_cast<int64_t>(function.steps.size());
  std::vector<int64_t> made(function.values.size(), -1);
  for (int64_t step = steps; step-- > 0;)
    for (ValueId result : function.steps[step].results) made[root_of(function, result)] = step;
  for (int64_t end = steps; end-- > 0;) {  // outer branches end later
    if (function.steps[end].kind != StepKind::kEndIf) continue;
    const int64_t begin = function.steps[end].match;
    for (size_t id = 0; id < releases.size(); ++id)
      if (made[id] < begin && begin <= releases[id] && releases[id] < end) releases[id] = end;
  }
  return releases;
}

namespace {

class LifespanFinder {
 public:
  LifespanFinder(const Machine& machine, const Function& function)
      : machine_(machine),
        function_(function),
        outputs_(output_of_root(function)),
        last_(last_uses(function)) {
    for (size_t stage = 0; stage < function.stages.size(); ++stage)
      for (const Birth& birth : function.stages[stage].births)
        stages_.try_emplace(birth.symbol, static_cast<int>(stage));
  }

  Liveness run() {
    result_.buffer_of_value.assign(function_.values.size(), -1);
    for (size_t step = 0; step < function_.steps.size(); ++step) {
      visit(function_.steps[step], static_cast<int64_t>(step));
      std::vector<int>& temporaries = result_.buffer_of_temporary.emplace_back();
      for (const Temporary& temporary : function_.steps[step].temporaries)
        temporaries.push_back(add_temporary(function_.steps[step], temporary, step));
    }
    for (size_t id = 0; id < function_.values.size(); ++id)
      if (is_view(function_.values[id]))
        result_.buffer_of_value[id] =
            result_.buffer_of_value[root_of(function_, static_cast<ValueId>(id))];
    return std::move(result_);
  }

 private:
  void visit(const Step& step, int64_t at) {
    for (size_t r = 0; r < step.results.size(); ++r) {
      ValueId id = step.results[r];
      const Value& value = function_.values[id];
      bool is_written_before = result_.buffer_of_value[id] >= 0;
      if (is_written_before || is_view(value) || outputs_[id] >= 0 ||
          value.storage != ValueStorage::kPlanned)
        continue;
      int64_t upper = std::max(last_[id], at) + 1;
      int buffer = reusable_buffer(step, static_cast<int>(r), at);
      if (buffer >= 0) {
        result_.buffers[buffer].upper = upper;
      } else {
        buffer = static_cast<int>(result_.buffers.size());
        add_buffer(at, upper, value.bytes(), value.place.pool);
      }
      result_.buffer_of_value[id] = buffer;
    }
  }

  // The buffer of an operand that result r may take, or -1.
  int reusable_buffer(const Step& step, int r, int64_t at) const {
    for (const Step::InPlace& permission : step.in_place) {
      if (permission.result != r) continue;
      ValueId operand = root_of(function_, step.operands[permission.operand]);
      int buffer = result_.buffer_of_value[operand];
      bool dies_here = last_[operand] == at;
      bool is_read_once = std::count_if(step.operands.begin(), step.operands.end(), [&](ValueId o) {
                            return root_of(function_, o) == operand;
                          }) == 1;
      bool is_taken = std::any_of(step.results.begin(), step.results.begin() + r,
                                  [&](ValueId o) { return result_.buffer_of_value[o] == buffer; });
      if (buffer >= 0 && dies_here && is_read_once && !is_taken &&
          function_.values[operand].place == function_.values[step.results[r]].place &&
          function_.values[operand].bytes() == function_.values[step.results[r]].bytes())
        return buffer;
    }
    return -1;
  }

  int add_temporary(const Step& step, const Temporary& temporary, size_t index) {
    const auto at = static_cast<int64_t>(index);
    const bool is_never_split = is_never_negative(step.grain - step.grid);
    DimExpr bytes = round_up(temporary.bytes, Pool::kLeastAlignment);  // each worker's part
    if (temporary.per_worker && !is_never_split) bytes = bytes * DimExpr::symbol(kThreadsSymbol);
    add_buffer(at, at + 1, bytes, temporary.pool);
    return static_cast<int>(result_.buffers.size()) - 1;
  }

  // In a branch that is not taken, a size may come out negative: nothing is there then.
  void add_buffer(int64_t lower, int64_t upper, DimExpr bytes, int pool) {
    bytes =
        round_up(is_never_negative(bytes) ? bytes : max(bytes, 0), machine_.pools[pool].alignment);
    if (std::ranges::find(function_.stacks, pool) != function_.stacks.end())
      bytes = interval_of(bytes).max;
    int stage = 0;
    for (const std::string& symbol : bytes.symbols())
      if (auto born = stages_.find(symbol); born != stages_.end())
        stage = std::max(stage, born->second);
    result_.buffers.push_back({lower, upper, bytes, stage, pool});
  }

  const Machine& machine_;
  const Function& function_;
  std::vector<int> outputs_;
  std::vector<int64_t> last_;
  std::map<std::string, int> stages_;  // by born symbol
  Liveness result_;
};

}  // namespace

Liveness find_lifespans(const Machine& machine, const Function& function) {
  return LifespanFinder(machine, function).run();
}

void move_buffer(Function& function, const Liveness& liveness, int buffer, int pool) {
  // There may be values that are newer than the lifespans.
  for (size_t id = 0; id < liveness.buffer_of_value.size(); ++id)
    if (liveness.buffer_of_value[id] == buffer) function.values[id].place.pool = pool;
  for (size_t step = 0; step < function.steps.size(); ++step)
    for (size_t t = 0; t < function.steps[step].temporaries.size(); ++t)
      if (liveness.buffer_of_temporary[step][t] == buffer)
        function.steps[step].temporaries[t].pool = pool;
}

}  // namespace scopevm::compiler::memory
