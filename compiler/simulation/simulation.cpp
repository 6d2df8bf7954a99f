// The clocks of ranks and links; see simulation.h.
#include "compiler/simulation/simulation.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "runtime/quoted.h"

namespace scopevm::compiler::simulation {
namespace {

// An element that the VM reads is a message of one number (RankGroup::share()).
constexpr int64_t kElementBytes = 8;
// Simulations of more steps would take longer than most requests.
constexpr int64_t kMostSteps = 1'000'000;

class Simulation {
 public:
  Simulation(const Program& program, const Function& function, const memory::Liveness& liveness,
             const memory::Request& request)
      : program_(program),
        machine_(program.machine),
        function_(function),
        liveness_(liveness),
        request_(request),
        is_output_(output_roots(function)),
        receives_(static_cast<size_t>(machine_.ranks())) {
    time_.ranks.resize(receives_.size());
  }

  Result<RequestTime> run() {
    begin();
    int64_t left = kMostSteps;
    for (size_t at = 0; at < function_.steps.size(); ++at) {
      if (--left < 0)
        return Status(StatusCode::kResourceLimit,
                      "the time is not known: a request executes more than " +
                          std::to_string(kMostSteps) + " steps");
      SCOPEVM_RETURN_IF_ERROR(execute(function_.steps[at], at));
    }
    end();
    return std::move(time_);
  }

 private:
  using Rank = TimeExplanation::Rank;
  using Link = TimeExplanation::Link;

  // A message that a rank has begun to receive.
  struct Receive {
    ValueId value;
    double arrival;
  };

  Rank& rank(int index) { return time_.ranks[static_cast<size_t>(index)]; }
  bool is_job() const { return time_.ranks.size() > 1; }

  // Rank 0 sends the shapes of the inputs to the others.
  void begin() {
    for (int each = 1; std::cmp_less(each, time_.ranks.size()); ++each)
      rank(each).seconds = rank(each).wait_seconds = machine_.link(0, each).latency_seconds;
  }

  // The others report the end of their parts to rank 0.
  void end() {
    for (int each = 0; std::cmp_less(each, time_.ranks.size()); ++each) {
      settle(each);
      const double report = each == 0 ? 0 : machine_.link(0, each).latency_seconds;
      time_.seconds = std::max(time_.seconds, rank(each).seconds + report);
    }
    for (auto& [ranks, link] : links_) time_.links.push_back(link);
  }

  // --- Steps. -----------------------------------------------------------------------------------

  Status execute(const Step& step, size_t& at) {
    if (const auto* launched = step.as<step::Launch>()) return launch(step, *launched, at);
    if (step.is<step::Copy>()) return copy(step.operands[0], step.results[0]);
    if (step.is<step::Swap>()) exchange(step.operands[0], step.operands[1]);
    if (step.is<step::Move>()) share_storage(step.operands[0], step.results[0]);
    if (step.is<step::Loop>()) return begin_loop(step, at);
    if (const auto* loop = step.as<step::EndLoop>()) {
      const auto begin = static_cast<size_t>(loop->begin);
      if (++iteration_[begin] < trips_[begin]) at = begin;
      count_iteration(begin);
      return {};
    }
    if (step.is<step::If, step::Call, step::CallClosure>()) return unknown(step);
    if (step.is<step::Assert>()) return share(step.operands[0]);
    if (step.is<step::Read>())
      for (const RuntimeSymbol& symbol : function_.segments[*step.segment].symbols)
        if (symbol.source == RuntimeSymbol::Source::kElement)
          SCOPEVM_RETURN_IF_ERROR(share(step.operands[static_cast<size_t>(symbol.operand)]));
    return {};
  }

  // The messages to the values arrive in the other one.
  void exchange(ValueId a, ValueId b) {
    const ValueId first = storage_of(a), second = storage_of(b);
    for (std::vector<Receive>& receives : receives_)
      for (Receive& receive : receives)
        if (receive.value == first || receive.value == second)
          receive.value = receive.value == first ? second : first;
  }

  // The messages to one value arrive in the other one, too.
  void share_storage(ValueId from, ValueId to) {
    for (std::vector<Receive>& receives : receives_)
      for (size_t i = 0, count = receives.size(); i < count; ++i)
        if (receives[i].value == storage_of(from))
          receives.push_back({storage_of(to), receives[i].arrival});
  }

  static Status unknown(const Step& step) {
    const std::string what =
        std::string(step.kind_name()) + (step.name.empty() ? "" : " " + runtime::quoted(step.name));
    if (step.is<step::Call>())
      return {StatusCode::kUnsupported, "the time is not known: " + what + " is not inlined"};
    return {StatusCode::kUnsupported,
            "the time is not known: data determine the steps of " + what + " that are executed"};
  }

  Status begin_loop(const Step& step, size_t& at) {
    size_t end = at;
    while (!function_.steps[end].is<step::EndLoop>() ||
           function_.steps[end].begin() != static_cast<int64_t>(at))
      ++end;
    if (function_.steps[end].as<step::EndLoop>()->has_condition) return unknown(step);
    SCOPEVM_ASSIGN_OR_RETURN(trips_[at], value_of(step.as<step::Loop>()->trip_count));
    iteration_[at] = 0;
    count_iteration(at);
    if (trips_[at] <= 0) at = end;
    return {};
  }

  // The sizes of values in a loop can depend on the number of its finished iterations.
  void count_iteration(size_t loop) {
    for (const RuntimeSymbol& symbol : function_.segments[*function_.steps[loop].segment].symbols)
      if (symbol.source == RuntimeSymbol::Source::kCount)
        request_.symbols[symbol.symbol] = iteration_[loop];
  }

  // Each buffer of a launch is accessed once: operands are read, the others are written.
  Status launch(const Step& step, const step::Launch& launched, size_t at) {
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t grid, value_of(launched.grid));
    const int index = machine_.devices[program_.kernels[launched.kernel].device].rank;
    for (ValueId operand : step.operands) wait_for(index, operand);
    for (ValueId result : step.results) wait_for(index, result);
    if (grid <= 0) return {};
    double seconds = 0;
    for (ValueId operand : step.operands) {
      SCOPEVM_ASSIGN_OR_RETURN(const double bytes, bytes_of(operand));
      if (const format::PoolSpeed* speed = speed_of(pool_of(operand)))
        seconds += speed->read_seconds(bytes);
    }
    for (ValueId result : step.results) {
      SCOPEVM_ASSIGN_OR_RETURN(const double bytes, bytes_of(result));
      if (const format::PoolSpeed* speed = speed_of(pool_of(result)))
        seconds += speed->write_seconds(bytes);
    }
    for (memory::BufferIndex temporary : liveness_.buffer_of_temporary[at]) {
      const memory::Liveness::Lifespan& buffer = liveness_.buffers[temporary];
      SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, value_of(buffer.bytes));
      if (const format::PoolSpeed* speed = speed_of(buffer.pool))
        seconds += speed->write_seconds(static_cast<double>(bytes));
    }
    ++rank(index).launches;
    rank(index).launch_seconds += seconds;
    rank(index).seconds += seconds;
    return {};
  }

  Status copy(ValueId from, ValueId to) {
    const PoolIndex from_pool = pool_of(from), to_pool = pool_of(to);
    const int sender = machine_.rank_of(from_pool), receiver = machine_.rank_of(to_pool);
    SCOPEVM_ASSIGN_OR_RETURN(const double bytes, bytes_of(to));
    wait_for(sender, from);
    wait_for(receiver, to);
    const double seconds = machine_.copy_seconds(from_pool, to_pool, bytes);
    if (sender == receiver) {
      rank(sender).copy_seconds += seconds;
      rank(sender).seconds += seconds;
    } else {
      const double arrival = send(sender, receiver, static_cast<int64_t>(bytes), seconds);
      receives_[static_cast<size_t>(receiver)].push_back({storage_of(to), arrival});
    }
    return {};
  }

  // --- Messages. --------------------------------------------------------------------------------

  // The arrival of a message that the sender sends now, and that takes `seconds` in an idle link.
  // The messages of a direction leave one after the other.
  double send(int sender, int receiver, int64_t bytes, double seconds) {
    const double latency = machine_.link(sender, receiver).latency_seconds;
    Link& link =
        links_.try_emplace({sender, receiver}, Link{.from = sender, .to = receiver}).first->second;
    double& free = free_[{sender, receiver}];
    free = std::max(free, rank(sender).seconds) + seconds - latency;
    ++link.messages;
    link.bytes += bytes;
    link.seconds += seconds - latency;
    return free + latency;
  }

  void wait_until(Rank& waiting, double time) {
    waiting.wait_seconds += std::max(time - waiting.seconds, 0.0);
    waiting.seconds = std::max(waiting.seconds, time);
  }

  // Until all messages to the rank have arrived.
  void settle(int index) {
    for (const Receive& receive : std::exchange(receives_[static_cast<size_t>(index)], {}))
      wait_until(rank(index), receive.arrival);
  }

  // Before an access to the value. If it has not arrived, the VM waits for all messages
  // (RankGroup::settle()).
  void wait_for(int index, ValueId value) {
    std::vector<Receive>& receives = receives_[static_cast<size_t>(index)];
    std::erase_if(receives,
                  [&](const Receive& receive) { return receive.arrival <= rank(index).seconds; });
    const ValueId storage = storage_of(value);
    if (std::ranges::any_of(receives, [&](const Receive& receive) {
          return contains(receive.value, storage) || contains(storage, receive.value);
        }))
      settle(index);
  }

  // The VM reads an element of the value: its rank sends it to all others.
  Status share(ValueId value) {
    if (!is_job()) return {};
    const int owner = machine_.rank_of(pool_of(value));
    for (int each = 0; std::cmp_less(each, time_.ranks.size()); ++each) settle(each);
    for (int each = 0; std::cmp_less(each, time_.ranks.size()); ++each) {
      if (each == owner) continue;
      const compiler::Link between = machine_.link(owner, each);
      const double seconds =
          between.latency_seconds + static_cast<double>(kElementBytes) / between.bytes_per_second;
      wait_until(rank(each), send(owner, each, kElementBytes, seconds));
    }
    return {};
  }

  // --- Values. ----------------------------------------------------------------------------------

  Result<int64_t> value_of(DimExpr expression) const {
    if (const auto value = memory::evaluate(expression, request_)) return *value;
    return Status(StatusCode::kResourceLimit,
                  "the time is not known: the size " + expression.str() + " has no value");
  }

  Result<double> bytes_of(ValueId value) const {
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, value_of(function_.values[value].bytes()));
    return static_cast<double>(bytes);
  }

  // Null for tensors in frames, whose accesses take no time.
  const format::PoolSpeed* speed_of(PoolIndex pool) const {
    return machine_.pools[pool].kind == PoolKind::kStack ? nullptr
                                                         : &machine_.pools[pool].planned_speed;
  }

  PoolIndex pool_of(ValueId id) const {
    const ValueId root = root_of(function_, id);
    const Value& value = function_.values[root];
    if (value.origin == ValueOrigin::kConstant) return program_.constants[*value.constant].pool;
    return value.origin == ValueOrigin::kInput || is_output_[root] ? result_pool(machine_, value)
                                                                   : value.place.pool;
  }

  // The value with the same bytes that is not a view of all bytes of another one.
  ValueId storage_of(ValueId id) const {
    while (function_.values[id].origin == ValueOrigin::kView) id = *function_.values[id].view_of;
    return id;
  }

  // Whether the bytes of `part` are in `whole`.
  bool contains(ValueId whole, ValueId part) const {
    for (ValueId id = part;; id = storage_of(*function_.values[id].view_of)) {
      if (id == whole) return true;
      if (!function_.values[id].is_view()) return false;
    }
  }

  const Program& program_;
  const Machine& machine_;
  const Function& function_;
  const memory::Liveness& liveness_;
  memory::Request request_;
  const IndexedVector<ValueId, bool> is_output_;
  std::map<size_t, int64_t> trips_, iteration_;  // of the loops, by the position of the step
  std::vector<std::vector<Receive>> receives_;   // by rank
  std::map<std::pair<int, int>, Link> links_;    // by sender and receiver
  std::map<std::pair<int, int>, double> free_;   // when the link has sent all messages until now
  RequestTime time_;
};

}  // namespace

Result<RequestTime> simulate(const Program& program, const Function& function,
                             const memory::Liveness& liveness, const memory::Request& request) {
  return Simulation(program, function, liveness, request).run();
}

}  // namespace scopevm::compiler::simulation
