// Keeps functions within the limits of the machine's pools: spills, then plans. If fragmentation
// makes a plan exceed a limit, spills again with less room.
#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>

#include "compiler/memory/blocks.h"
#include "compiler/memory/spill/spill.h"
#include "compiler/program/call_graph.h"

namespace scopevm::compiler::memory {
namespace {

// The most rounds of spilling and planning before the compiler reports that the limit cannot be
// kept.
constexpr int kMostRounds = 12;

PoolBytes limits_of(const Machine& machine) {
  PoolBytes limits;
  for (PoolIndex pool : machine.pools.indices())
    if (machine.pools[pool].is_limited()) limits[pool] = *machine.pools[pool].limit;
  return limits;
}

// Live bytes of each pool at each step.
class Timeline {
 public:
  explicit Timeline(int64_t steps) : steps_(steps) {}

  void add(PoolIndex pool, int64_t lower, int64_t upper, int64_t bytes) {
    std::vector<int64_t>& live = live_.try_emplace(pool, steps_ + 1, 0).first->second;
    for (int64_t step = lower; step < std::min(upper, steps_ + 1); ++step) live[step] += bytes;
  }

  PoolBytes most() const {
    PoolBytes most;
    for (const auto& [pool, live] : live_) most[pool] = *std::ranges::max_element(live);
    return most;
  }

 private:
  int64_t steps_;
  std::map<PoolIndex, std::vector<int64_t>> live_;
};

void add(PoolBytes& sum, const PoolBytes& bytes) {
  for (const auto& [pool, more] : bytes) sum[pool] += more;
}

// The bytes of functions, for the steps that call them.
struct CalleeBytes {
  std::map<FunctionIndex, PoolBytes> functions;
  PoolBytes closures;  // the most of all functions of closures: CallClosure may run any of them

  const PoolBytes& of(const Step& step) const {
    static const PoolBytes kNone;
    if (step.is<step::CallClosure>()) return closures;
    const auto* call = step.as<step::Call>();
    const auto found = call ? functions.find(call->callee) : functions.end();
    return found == functions.end() ? kNone : found->second;
  }
};

// The most bytes of each pool that results, values with their own storage, and callees hold at one
// step. Data-dependent sizes count as 0.
PoolBytes fixed_bytes(const Program& program, const Function& function, const CalleeBytes& callees,
                      const Request& request) {
  const auto end = static_cast<int64_t>(function.steps.size());
  const IndexedVector<ValueId, bool> is_output = output_roots(function);
  const LastSteps last = last_uses(function);
  IndexedVector<ValueId, bool> is_seen(function.values.size());
  Timeline timeline(end);
  for (int64_t at = 0; at < end; ++at) {
    const Step& step = function.steps[at];
    for (ValueId id : step.results) {
      const Value& value = function.values[id];
      const bool has_own = is_output[id] || value.storage != ValueStorage::kPlanned;
      if (is_seen[id] || !has_own || value.is_list() || value.origin != ValueOrigin::kStep)
        continue;
      is_seen[id] = true;
      // Results of this function and of its callees are allocated in the pool of results.
      const bool is_returned = step.is<step::Call, step::CallClosure>();
      const PoolIndex pool =
          is_output[id] || is_returned ? result_pool(program.machine, value) : value.place.pool;
      // During the call, the bytes of the callee include its results. A result is live past the
      // last step, until the caller takes it.
      timeline.add(pool, is_returned && !callees.of(step).empty() ? at + 1 : at,
                   is_output[id] ? end + 1 : last[id].value_or(-1) + 1,
                   evaluate(value.bytes(), request).value_or(0));
    }
    // A callee needs its plan only during the call.
    for (const auto& [pool, bytes] : callees.of(step)) timeline.add(pool, at, at + 1, bytes);
  }
  return timeline.most();
}

// The heights of the arenas of segment 0, by pool. The session enforces the limits for arenas with
// data-dependent sizes.
PoolBytes heights_of(const Plan& plan, const ShapeProgram& shapes, const Function& function,
                     const Request& request) {
  PoolBytes heights;
  std::map<std::string, int64_t> symbols = request.symbols;
  // Segment 0 does not depend on runtime-defined symbols, so any values of them serve.
  const Request sample = sample_requests(function, 0).front();
  symbols.insert(sample.symbols.begin(), sample.symbols.end());
  std::optional<ShapeProgram::Values> values = shapes.evaluate(symbols, request.threads);
  if (!values) return heights;
  for (const Arena& arena : plan.arenas)
    if (arena.segment == SegmentIndex{0}) heights[arena.pool] += (*values)[arena.height];
  return heights;
}

// Reduces `room` for the pools whose plans are over their limits, by more in each round. Returns
// the pool with the largest excess, if any.
std::optional<PoolIndex> tighten(const PoolBytes& limits, const PoolBytes& used, int round,
                                 PoolBytes& room) {
  std::optional<PoolIndex> worst;
  int64_t most = 0;
  for (const auto& [pool, limit] : limits) {
    const int64_t over = bytes_in(used, pool) - limit;
    // Fragmentation does not shrink in proportion to the room, so the reduction grows with the
    // rounds.
    if (over > 0) room[pool] -= over * (round + 1);
    if (over > most) {
      most = over;
      worst = pool;
    }
  }
  return worst;
}

Status plan_is_over(const Machine& machine, PoolIndex pool, int64_t limit, int64_t used) {
  return {StatusCode::kResourceLimit, limit_text(machine, pool, limit) +
                                          "; the live bytes fit, but the plan needs " +
                                          std::to_string(used) + " bytes because of fragmentation"};
}

// Spills from each pool of the function that is over its `room`.
Status spill_all(const Program& program, Function& function, const PoolBytes& room,
                 const PoolBytes& fixed, const Request& request,
                 std::vector<SpillReport>& reports) {
  for (const auto& [pool, bytes] : room) {
    SCOPEVM_ASSIGN_OR_RETURN(SpillReport report,
                             spill(program, function, pool, room, fixed, request));
    if (!report.copies.empty() || !report.moves.empty()) reports.push_back(std::move(report));
  }
  return {};
}

class LimitKeeper {
 public:
  explicit LimitKeeper(Program& program) : program_(program), limits_(limits_of(program.machine)) {}

  Result<std::vector<SpillReport>> run() {
    if (limits_.empty()) return std::vector<SpillReport>();
    SCOPEVM_RETURN_IF_ERROR(subtract_constants());
    const CallGraph calls(program_);
    find_requests(calls.callees_first());
    if (fits_without_spilling()) return std::vector<SpillReport>();
    for (FunctionIndex index : closures_first(calls))
      SCOPEVM_RETURN_IF_ERROR(keep(index).with_context(program_.functions[index].name));
    return std::move(reports_);
  }

 private:
  // Constants are stored in their pool for as long as the session exists, so calls have only the
  // rest of the limit.
  Status subtract_constants() {
    PoolBytes held;
    for (const Constant& constant : program_.constants) held[constant.pool] += constant.bytes;
    for (const auto& [pool, bytes] : held) {
      const auto limit = limits_.find(pool);
      if (limit == limits_.end()) continue;
      if (bytes > limit->second)
        return {StatusCode::kResourceLimit, program_.machine.pool_name(pool) + " is limited to " +
                                                std::to_string(limit->second) +
                                                " bytes; the model's constants in this pool "
                                                "take " +
                                                std::to_string(bytes) + " bytes"};
      limit->second -= bytes;
    }
    return {};
  }

  // All functions, callees before callers. The functions of closures and their callees come before
  // the others, which may call the closures.
  std::vector<FunctionIndex> closures_first(const CallGraph& calls) {
    for (const Function& function : program_.functions)
      for (const Step& step : function.steps)
        if (const auto* closure = step.as<step::MakeClosure>())
          closure_functions_.insert(closure->callee);
    std::vector<FunctionIndex> order = calls.callees_first();
    std::ranges::stable_partition(order, [&](FunctionIndex index) {
      return std::ranges::any_of(closure_functions_, [&](FunctionIndex closure) {
        return closure == index || calls.reachable(closure).contains(index);
      });
    });
    return order;
  }

  // Computes the dims of each function for which limits are kept: for callees, the largest dims of
  // all calls. Counts the calls of each function per call of the model; 1 if the count is unknown.
  void find_requests(const std::vector<FunctionIndex>& callees_first) {
    for (const Function& function : program_.functions)
      requests_.push_back(limit_request(program_.machine, function));
    IndexedVector<FunctionIndex, bool> is_called(program_.functions.size());
    calls_.resize(program_.functions.size());
    // Callers come before callees, so the request of a caller is complete before its dims are
    // passed on.
    for (FunctionIndex caller : callees_first | std::views::reverse) {
      const Function& function = program_.functions[caller];
      const Blocks blocks(function, requests_[caller]);
      calls_[caller] = std::max(calls_[caller], 1.0);
      for (size_t at = 0; at < function.steps.size(); ++at) {
        const auto* call = function.steps[at].as<step::Call>();
        if (!call) continue;
        pass_dims(caller, function.steps[at], call->callee, is_called[call->callee]);
        is_called[call->callee] = true;
        calls_[call->callee] += calls_[caller] * blocks.times_of_step(static_cast<int64_t>(at));
      }
    }
  }

  // Sets the dims of the callee's request to those of its first call, or raises them to those of a
  // later call. A dim that is unknown in the caller counts as 0.
  void pass_dims(FunctionIndex from, const Step& call, FunctionIndex to, bool is_called_before) {
    const Function &caller = program_.functions[from], &callee = program_.functions[to];
    for (size_t o = 0; o < call.operands.size(); ++o) {
      if (caller.values[call.operands[o]].is_list()) continue;
      const std::vector<DimExpr>& given = caller.values[call.operands[o]].shape;
      const std::vector<DimExpr>& taken = callee.values[callee.inputs[o]].shape;
      for (size_t axis = 0; axis < std::min(given.size(), taken.size()); ++axis) {
        // An expression is computed from symbols, which other dims determine.
        if (taken[axis].kind() != DimExpr::Kind::kSymbol) continue;
        int64_t& dim = requests_[to].symbols[std::string(taken[axis].symbol_name())];
        const int64_t known = evaluate(given[axis], requests_[from]).value_or(0);
        dim = is_called_before ? std::max(dim, known) : known;
      }
    }
  }

  // Whether the sum of all buffers, results and values with their own storage, over all functions,
  // is within all limits. No plan has to be made then. Recursive functions may hold more; the
  // session enforces their limits.
  bool fits_without_spilling() const {
    PoolBytes all;
    for (FunctionIndex index : requests_.indices()) {
      const Function& function = program_.functions[index];
      add(all, fixed_bytes(program_, function, {}, requests_[index]));
      if (add_buffers(function, requests_[index], all)) return false;
    }
    return std::ranges::all_of(
        limits_, [&](const auto& limit) { return bytes_in(all, limit.first) <= limit.second; });
  }

  // Adds the bytes of the function's buffers in pools with limits. Returns the pool of a size that
  // is not known or overflows, if any.
  std::optional<PoolIndex> add_buffers(const Function& function, const Request& request,
                                       PoolBytes& all) const {
    for (const Liveness::Lifespan& lifespan : find_lifespans(program_.machine, function).buffers) {
      if (lifespan.segment > SegmentIndex{0} || !limits_.contains(lifespan.pool)) continue;
      const std::optional<int64_t> bytes = evaluate(lifespan.bytes, request);
      int64_t& sum = all[lifespan.pool];
      if (!bytes || __builtin_add_overflow(sum, *bytes, &sum)) return lifespan.pool;
    }
    return std::nullopt;
  }

  // Limits cannot be kept for sizes that are not known.
  Status check_sizes(const Function& function, const Request& request) const {
    PoolBytes all;
    if (const auto pool = add_buffers(function, request, all))
      return {StatusCode::kResourceLimit, limit_text(program_.machine, *pool, limits_.at(*pool)) +
                                              ", and the sizes of its buffers exceed 64 bits" +
                                              dims_text(request)};
    return {};
  }

  // Spills and plans one function. Each round starts from the original steps, so that the copies of
  // earlier rounds do not accumulate.
  Status keep(FunctionIndex index) {
    const Function original = program_.functions[index];
    const Request& request = requests_[index];
    // The callees are complete: functions are visited callees first. In a cycle of recursive calls
    // a callee may be missing; the session enforces the limit there.
    SCOPEVM_RETURN_IF_ERROR(check_sizes(original, request));
    const PoolBytes fixed = fixed_bytes(program_, original, callees_, request);
    PoolBytes room = limits_;
    Status over;
    for (int round = 0; round < kMostRounds; ++round) {
      Function& function = program_.functions[index] = original;
      std::vector<SpillReport> reports;
      Status status = spill_all(program_, function, room, fixed, request, reports);
      // After the first round the room is artificially small, so the failure to spill is due to
      // fragmentation and is reported as such.
      if (!status.ok()) return over.ok() ? status : over;
      SCOPEVM_ASSIGN_OR_RETURN(ShapeProgram shapes, ShapeProgram::create(function));
      SCOPEVM_ASSIGN_OR_RETURN(const Plan made, make_plan(program_.machine, function, shapes));
      PoolBytes heights = heights_of(made, shapes, function, request);
      add(heights, fixed);
      const std::optional<PoolIndex> worst = tighten(limits_, heights, round, room);
      if (!worst) {
        for (SpillReport& report : reports) {
          report.seconds *= calls_[index];
          report.lower_bound_seconds *= calls_[index];
        }
        if (closure_functions_.contains(index))
          for (const auto& [pool, bytes] : heights)
            callees_.closures[pool] = std::max(callees_.closures[pool], bytes);
        callees_.functions[index] = std::move(heights);
        std::ranges::move(reports, std::back_inserter(reports_));
        return {};
      }
      over = plan_is_over(program_.machine, *worst, limits_.at(*worst), heights[*worst]);
    }
    return over;
  }

  Program& program_;
  PoolBytes limits_;  // without the bytes of constants
  IndexedVector<FunctionIndex, Request> requests_;
  IndexedVector<FunctionIndex, double> calls_;  // per call of the model
  std::set<FunctionIndex> closure_functions_;
  CalleeBytes callees_;  // of the functions that are complete
  std::vector<SpillReport> reports_;
};

}  // namespace

Result<std::vector<SpillReport>> enforce_limits(Program& program) {
  return LimitKeeper(program).run();
}

}  // namespace scopevm::compiler::memory
