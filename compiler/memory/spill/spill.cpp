// Applies spill choices to the steps of a function. A spilled value is copied out after the step
// that makes it. It is copied back, as a new value, before the next step that uses it.
#include "compiler/memory/spill/spill.h"

#include <algorithm>

namespace scopevm::compiler::memory {
namespace {

// A spilled value with its copies. Step indices refer to the function before it is rewritten.
struct Spilled {
  ValueId value;
  PoolIndex pool;
  struct Return {
    int64_t before = 0;  // the value is reloaded before this step
    ValueId value;       // the reloaded value, which later steps use
  };
  int64_t made = 0;             // the step that writes the value
  ValueId outside;              // the copy in `pool`
  std::vector<Return> returns;  // ascending
};

class Rewriter {
 public:
  Rewriter(const Program& program, Function& function, const SpillInstance& instance)
      : machine_(program.machine), function_(function), instance_(instance) {}

  void run(const std::vector<SpillChoice>& choices) {
    for (size_t i = 0; i < choices.size(); ++i) {
      const SpillItem& item = instance_.problem.items[i];
      if (choices[i].move)
        move_buffer(function_, instance_.liveness, instance_.buffers[i],
                    item.moves[*choices[i].move].pool);
      for (size_t v = 0; v < choices[i].values.size(); ++v)
        if (!choices[i].values[v].gaps.empty())
          plan_copies(instance_.values[i][v], item.values[v], choices[i].values[v]);
    }
    rename_uses();
    insert_copies();
  }

 private:
  ValueId add_value(Value value) {
    const ValueId id = function_.values.next_index();
    function_.values.push_back(std::move(value));
    return id;
  }

  void plan_copies(ValueId id, const SpillItem::Value& held, const SpillChoice::Value& choice) {
    Spilled spilled{id, held.destinations[choice.destination].pool, held.made, {}, {}};
    const Value value = function_.values[id];
    Value outside = value;
    outside.place = {machine_.pools[spilled.pool].device, spilled.pool};
    // The pools over their limits are spilled one after another. Spilling a later pool must not
    // move this copy, because the report states the pool of the copy.
    outside.is_scope_required = true;
    spilled.outside = add_value(std::move(outside));
    for (int gap : choice.gaps)
      spilled.returns.push_back({held.gaps[gap].upper, add_value(Value(value))});
    spilled_.push_back(std::move(spilled));
  }

  // The value that replaces `id` as an operand at `step`.
  ValueId renamed(const Spilled& spilled, ValueId id, int64_t step) {
    ValueId now = spilled.value;
    for (const Spilled::Return& back : spilled.returns)
      // The latest reload before the step in program order also dominates it, because reloads are
      // made only in the block that writes the value.
      if (back.before <= step) now = back.value;
    return rebased(id, spilled.value, now);
  }

  // Rebases a view: the view of `to` that corresponds to the view `id` of `root`.
  ValueId rebased(ValueId id, ValueId root, ValueId to) {
    if (id == root || to == root) return id == root ? to : id;
    if (auto known = views_.find({id, to}); known != views_.end()) return known->second;
    Value view = function_.values[id];
    view.view_of = rebased(*view.view_of, root, to);
    return views_[{id, to}] = add_value(std::move(view));
  }

  void rename_uses() {
    std::map<ValueId, const Spilled*> by_root;
    for (const Spilled& spilled : spilled_) by_root[spilled.value] = &spilled;
    for (size_t i = 0; i < function_.steps.size(); ++i)
      for (ValueId& operand : function_.steps[i].operands)
        if (auto found = by_root.find(root_of(function_, operand)); found != by_root.end())
          operand = renamed(*found->second, operand, static_cast<int64_t>(i));
  }

  Step copy(ValueId from, ValueId to) const {
    return {.name = function_.values[to].name,
            .operands = {from},
            .results = {to},
            .work = step::Copy()};
  }

  // Inserts the copies into the steps, and updates the positions that closing marks store.
  void insert_copies() {
    const auto count = static_cast<int64_t>(function_.steps.size());
    std::vector<std::vector<Step>> before(count + 1);
    // Immediately after the step that writes the value, and before all reloads, so that the gap may
    // begin there.
    for (const Spilled& spilled : spilled_)
      before[spilled.made + 1].push_back(copy(spilled.value, spilled.outside));
    for (const Spilled& spilled : spilled_)
      for (const Spilled::Return& back : spilled.returns)
        before[back.before].push_back(copy(spilled.outside, back.value));
    std::vector<Step> steps;
    std::vector<int64_t> now_at(count);
    for (int64_t i = 0; i < count; ++i) {
      for (Step& step : before[i]) steps.push_back(std::move(step));
      now_at[i] = static_cast<int64_t>(steps.size());
      steps.push_back(std::move(function_.steps[i]));
    }
    for (Step& step : steps)
      // Else, EndIf and EndLoop refer to their opening marks by position.
      if (const std::optional<int64_t> begin = step.begin()) step.set_begin(now_at[*begin]);
    function_.steps = std::move(steps);
  }

  const Machine& machine_;
  Function& function_;
  const SpillInstance& instance_;
  std::vector<Spilled> spilled_;
  std::map<std::pair<ValueId, ValueId>, ValueId> views_;
};

std::string bytes_text(int64_t bytes) { return std::to_string(bytes) + " bytes"; }

// Describes the content of a buffer at a step: a value, or the scratch memory of a launch.
std::string name_at(const Function& function, const SpillInstance& instance, BufferIndex buffer,
                    int64_t step) {
  for (BufferIndex temporary : instance.liveness.buffer_of_temporary[step])
    if (temporary == buffer) return "scratch of \"" + function.steps[step].name + "\"";
  std::string name;
  for (int64_t at = 0; at <= step; ++at)
    for (ValueId result : function.steps[at].results)
      if (instance.liveness.buffer_of_value[result] == buffer && (at < step || name.empty()))
        name = "\"" + function.values[result].name + "\"";
  return name;
}

// Lists the buffers of the pool that are live at a step, largest first. Names only the first eight.
std::string live_set(const Function& function, const SpillInstance& instance, int64_t step) {
  constexpr size_t kMostListed = 8;
  std::vector<std::pair<int64_t, size_t>> live;
  for (size_t i = 0; i < instance.problem.items.size(); ++i) {
    const SpillItem& item = instance.problem.items[i];
    if (item.lower <= step && step < item.upper && item.bytes > 0)
      live.emplace_back(-item.bytes, i);
  }
  std::ranges::sort(live);
  std::string text;
  int64_t rest = 0;
  for (size_t i = 0; i < live.size(); ++i) {
    if (i >= kMostListed) {
      rest -= live[i].first;
      continue;
    }
    text += (i == 0 ? "" : ", ") +
            name_at(function, instance, instance.buffers[live[i].second], step) + " " +
            bytes_text(-live[i].first);
  }
  if (rest > 0)
    text += ", and " + std::to_string(live.size() - kMostListed) + " more, " + bytes_text(rest);
  return text;
}

// Adds the moves, and the copies with their reasons, to the report.
class Describer {
 public:
  Describer(const Program& program, const Function& function, const SpillInstance& instance,
            SpillReport& report)
      : function_(function),
        instance_(instance),
        report_(report),
        pool_(program.machine.pool_name(report.pool)),
        home_(pool_ + " (limit " + bytes_text(report.limit) + ")") {}

  void add(size_t i, const SpillChoice& choice) {
    const SpillItem& item = instance_.problem.items[i];
    if (choice.move)
      report_.moves.push_back({name_at(function_, instance_, instance_.buffers[i], item.lower),
                               instance_.liveness.buffers[instance_.buffers[i]].bytes,
                               item.moves[*choice.move].pool});
    for (size_t v = 0; v < choice.values.size(); ++v)
      if (!choice.values[v].gaps.empty())
        add_copies(function_.values[instance_.values[i][v]], item.values[v], choice.values[v]);
  }

 private:
  const std::string& name_of(int64_t step) const { return function_.steps[step].name; }

  void add_copies(const Value& value, const SpillItem::Value& held,
                  const SpillChoice::Value& choice) {
    const PoolIndex pool = held.destinations[choice.destination].pool;
    const std::vector<int64_t>& live = instance_.live;
    auto peak = live.begin();
    for (int gap : choice.gaps) {
      auto in_gap = std::max_element(live.begin() + held.gaps[gap].lower,
                                     live.begin() + held.gaps[gap].upper);
      if (peak == live.begin() || *in_gap > *peak) peak = in_gap;
    }
    report_.copies.push_back({value.name, value.bytes(), held.times, report_.pool, pool,
                              "\"" + name_of(held.made) + "\" writes it to " + home_,
                              "without spilling, " + bytes_text(*peak) + " are live in " + pool_ +
                                  " at \"" + name_of(peak - live.begin()) + "\""});
    for (int gap : choice.gaps)
      report_.copies.push_back({value.name, value.bytes(), held.times, pool, report_.pool,
                                "it was spilled from " + home_,
                                "\"" + name_of(held.gaps[gap].upper) + "\" reads it in " + pool_});
  }

  const Function& function_;
  const SpillInstance& instance_;
  SpillReport& report_;
  const std::string pool_;
  const std::string home_;  // `pool_` with its limit
};

Status does_not_fit(const Program& program, const Function& function, PoolIndex pool, int64_t room,
                    int64_t fixed, const SpillInstance& instance, int64_t step,
                    const Request& request) {
  std::string text = limit_text(program.machine, pool, room) + ", and " +
                     bytes_text(instance.live[step]) + " are live at \"" +
                     function.steps[step].name + "\"" + dims_text(request) + ": ";
  const std::string planned = live_set(function, instance, step);
  text += planned;
  if (fixed > 0)
    text +=
        (planned.empty() ? "" : ", and ") + bytes_text(fixed) + " of results and called functions";
  return {StatusCode::kResourceLimit,
          text + "; no combination of moves and spills was found that keeps the limit"};
}

}  // namespace

int64_t bytes_in(const PoolBytes& bytes, PoolIndex pool) {
  const auto found = bytes.find(pool);
  return found == bytes.end() ? 0 : found->second;
}

std::string limit_text(const Machine& machine, PoolIndex pool, int64_t room) {
  const int64_t limit = *machine.pools[pool].limit;
  std::string text = machine.pool_name(pool) + " is limited to " + bytes_text(limit);
  if (room < limit) text += ", of which constants take " + bytes_text(limit - room);
  return text;
}

std::string dims_text(const Request& request) {
  std::string text;
  for (const auto& [name, value] : request.symbols)
    if (symbol_kind(name) == SymbolKind::kDimension)
      text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(value);
  return text.empty() ? "" : " (for " + text + ")";
}

Result<SpillReport> spill(const Program& program, Function& function, PoolIndex pool,
                          const PoolBytes& room, const PoolBytes& fixed, const Request& request) {
  const SpillInstance instance = read_instance(program, function, pool, room, fixed, request);
  SpillReport report{.function = function.name,
                     .pool = pool,
                     .limit = *program.machine.pools[pool].limit,
                     .needed = instance.live.empty() ? 0 : std::ranges::max(instance.live)};
  const SpillSolution solution = choose_spills(instance.problem);
  if (!solution.is_found && instance.problem.steps > 0)
    return does_not_fit(program, function, pool, room.at(pool), bytes_in(fixed, pool), instance,
                        *solution.worst_step, request);
  report.seconds = solution.cost;
  report.lower_bound_seconds = solution.lower_bound;
  Describer describer(program, function, instance, report);
  for (size_t i = 0; i < solution.choices.size(); ++i) describer.add(i, solution.choices[i]);
  Rewriter(program, function, instance).run(solution.choices);
  return report;
}

}  // namespace scopevm::compiler::memory
