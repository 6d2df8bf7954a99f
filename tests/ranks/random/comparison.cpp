// See comparison.h.
#include "tests/ranks/random/comparison.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "scopevm/compiler.h"
#include "tests/ranks/random/compared_state.h"
#include "tests/ranks/random/execution.h"
#include "tests/ranks/random/tensors.h"
#include "tests/temporary_file.h"

namespace scopevm::ranks {
namespace {

constexpr size_t kMostStates = 4;

std::string text_of(const Status& status) {
  return status.ok() ? "ok" : std::string(status.message());
}

enum class Fault { kNone, kDeadline, kCancel, kAllocation };

StatusCode code_of(Fault fault) {
  if (fault == Fault::kDeadline) return StatusCode::kDeadlineExceeded;
  return fault == Fault::kCancel ? StatusCode::kCancelled : StatusCode::kOutOfMemory;
}

class Comparison {
 public:
  Comparison(const RandomModel& model, uint64_t seed, Module plain, Module distributed,
             Counts& counts)
      : model_(model),
        random_(seed),
        plain_(std::move(plain), {}),
        alone_(distributed, {}),
        job_(distributed, {.is_job = true,
                           .threads = random_.chance(80) ? 1 : 2,
                           .eager_bytes = random_.one_of<int64_t>({0, 64, 1 << 20})}),
        tied_(tied_inputs(model, plain_.module().signature(), job_.module().signature())),
        counts_(counts) {}

  // An operation that takes more than `wait_seconds` ends the process by SIGALRM.
  std::string run(int64_t operations, unsigned wait_seconds) {
    alarm(wait_seconds);
    create();
    if (!wrong_.empty() || states_.empty()) return report();
    const std::vector<std::string> live = job_.live_bytes();
    for (int64_t i = 0; i < operations && wrong_.empty(); ++i) {
      alarm(wait_seconds);
      step();
    }
    alarm(wait_seconds);
    for (const ComparedState& state : states_)
      if (wrong_.empty()) check(state.difference_of(tied_));
    if (wrong_.empty()) check_released(live);
    states_.clear();
    counts_.remote += has_remote_ ? 1 : 0;
    if (wrong_.empty()) check(job_.finish());
    return report();
  }

 private:
  std::string report() const {
    if (wrong_.empty()) return "";
    std::string text = wrong_ + "\nlast operations:";
    const size_t first = log_.size() > 12 ? log_.size() - 12 : 0;
    for (size_t i = first; i < log_.size(); ++i) text += "\n  " + log_[i];
    return text;
  }
  void check(const std::string& wrong) {
    if (wrong_.empty()) wrong_ = wrong;
  }
  void log(const std::string& text) { log_.push_back(text); }
  size_t pick() { return static_cast<size_t>(random_.below(static_cast<int64_t>(states_.size()))); }

  // Whether a fault ended an operation of the job, which then has no effect. A deadline can also be
  // reported by the other rank.
  bool is_interrupted(Fault fault, const Status& status, const std::string& what) {
    if (status.ok() || fault == Fault::kNone || status.code() == StatusCode::kInvalidArgument)
      return false;
    ++counts_.interrupted;
    if (status.code() != code_of(fault)) check(what + " of the job: " + text_of(status));
    return true;
  }

  // One operation. The first state exists until the end.
  void step() {
    const size_t index = pick();
    const int64_t kind = random_.below(20);
    if (kind < 12) return call(index, random_fault());
    ++counts_.operations;
    if (kind == 12) return states_.size() < kMostStates ? create() : erase(index);
    if (kind == 13 || kind == 14) return fork(index);
    if (kind == 15) return restore(index, pick());
    if (kind == 16) return reset(index);
    if (kind == 17) return set_values(index);
    if (kind == 18) return erase(index);
    log("compare state " + std::to_string(index));
    check(states_[index].difference_of(tied_));
    if (random_.chance(20)) job_.session().trim();
  }

  Fault random_fault() {
    if (random_.chance(70)) return Fault::kNone;
    return random_.one_of<Fault>({Fault::kDeadline, Fault::kCancel, Fault::kAllocation});
  }

  // With `part`: the inputs of the distributed module.
  StateOptions options(const std::map<std::string, int64_t>& dims,
                       const std::map<std::string, Tensor>& initial, bool is_plain) const {
    StateOptions options;
    for (const auto& [name, size] : dims) {
      const auto bound = model_.dims.find(name);
      if (bound == model_.dims.end() || bound->second.least() < bound->second.max)
        options.dims[name] = size;
    }
    for (const TiedInput& tied : tied_) {
      const auto given = initial.find(tied.type.name);
      const Tensor value = given == initial.end() ? Tensor() : given->second;
      if (is_plain) {
        options.pairs.push_back({tied.type.name, tied.output, value});
        continue;
      }
      const std::vector<Tensor> values =
          value.is_empty() ? std::vector<Tensor>(tied.parts.size()) : tied.divide(value);
      for (size_t i = 0; i < tied.parts.size(); ++i)
        options.pairs.push_back({tied.parts[i].name, tied.parts_outputs[i], values[i]});
    }
    return options;
  }

  // Values of the inputs of a state, or of a part of them.
  std::map<std::string, Tensor> random_values(const std::map<std::string, int64_t>& dims) {
    std::map<std::string, int64_t> sizes = dims;
    for (const auto& [name, bound] : model_.dims)
      if (name.starts_with("p") && !name.ends_with("_capacity")) {
        const auto capacity = dims.find(name + "_capacity");
        sizes[name] = random_.between(0, capacity == dims.end() ? 4 : capacity->second / 2);
      }
    std::map<std::string, Tensor> values;
    for (const TiedInput& tied : tied_)
      values[tied.type.name] = random_tensor(random_, tied.type.dtype, shape_of(tied.type, sizes));
    return values;
  }

  void create() {
    std::map<std::string, int64_t> dims;
    for (const DimensionSignature& dimension : plain_.module().signature().dimensions)
      if (dimension.name == "b") dims["b"] = random_.between(1, 2);
    for (const auto& [name, bound] : model_.dims)
      if (name.ends_with("_capacity"))
        dims[name] = bound.least() == bound.max ? bound.max : random_.between(2, 9);
    std::map<std::string, Tensor> initial;
    if (random_.chance(30)) initial = random_values(dims);
    const bool is_first = states_.empty();
    const Fault fault = !is_first && random_.chance(30) ? Fault::kAllocation : Fault::kNone;
    log("create a state");
    if (fault == Fault::kAllocation) job_.fail_at(random_.between(1, 6), random_);
    const Result<State> job = State::create(job_.session(), options(dims, initial, false));
    job_.fail_at(0, random_);
    if (is_interrupted(fault, job.status(), "create()")) return;
    const Result<State> alone = State::create(alone_.session(), options(dims, initial, false));
    const Result<State> plain = State::create(plain_.session(), options(dims, initial, true));
    for (const Result<State>* state : {&job, &alone, &plain})
      if (!state->ok()) return check("create(): " + text_of(state->status()));
    states_.push_back({dims, *plain, *alone, *job});
    if (random_.chance(30)) check(states_.back().difference_of(tied_));
  }

  void erase(size_t index) {
    if (index == 0) return;
    log("release state " + std::to_string(index));
    states_.erase(states_.begin() + static_cast<int64_t>(index));
  }

  void fork(size_t index) {
    if (states_.size() == kMostStates) return erase(states_.size() - 1);
    const Fault fault = random_.chance(30) ? Fault::kAllocation : Fault::kNone;
    log("fork state " + std::to_string(index));
    const ComparedState& from = states_[index];
    if (fault == Fault::kAllocation) job_.fail_at(random_.between(1, 4), random_);
    const Result<State> job = from.job.fork();
    job_.fail_at(0, random_);
    if (is_interrupted(fault, job.status(), "fork()")) return;
    const Result<State> alone = from.alone.fork(), plain = from.plain.fork();
    for (const Result<State>* state : {&job, &alone, &plain})
      if (!state->ok()) return check("fork(): " + text_of(state->status()));
    states_.push_back({from.dims, *plain, *alone, *job});
  }

  // A snapshot of the job also restores the state of the other process, and vice versa. Values of
  // other dims are refused, and those that have grown over the bound of their dimension.
  void restore(size_t to, size_t from) {
    log("restore state " + std::to_string(to) + " from " + std::to_string(from));
    const ComparedState& source = states_[from];
    ComparedState& target = states_[to];
    const auto plain = source.plain.snapshot(), alone = source.alone.snapshot(),
               job = source.job.snapshot();
    for (const auto* snapshot : {&plain, &alone, &job})
      if (!snapshot->ok()) return check("snapshot(): " + text_of(snapshot->status()));
    const bool swaps = random_.chance(50);
    const std::array statuses = {target.plain.restore(*plain),
                                 target.alone.restore(swaps ? *job : *alone),
                                 target.job.restore(swaps ? *alone : *job)};
    for (const Status& status : statuses)
      if (status.code() != statuses[0].code())
        return check("restore(): " + text_of(status) + " instead of " + text_of(statuses[0]));
  }

  void reset(size_t index) {
    log("reset state " + std::to_string(index));
    for (State* state : {&states_[index].plain, &states_[index].alone, &states_[index].job})
      if (const Status status = state->reset(); !status.ok())
        return check("reset(): " + text_of(status));
  }

  void set_values(size_t index) {
    log("set values of state " + std::to_string(index));
    ComparedState& state = states_[index];
    const std::map<std::string, Tensor> values = random_values(state.dims);
    for (const TiedInput& tied : tied_) {
      const Tensor& value = values.at(tied.type.name);
      const std::vector<Tensor> parts = tied.divide(value);
      std::vector<Status> statuses = {state.plain.set_value(tied.type.name, value)};
      for (size_t i = 0; i < parts.size(); ++i)
        for (State* each : {&state.alone, &state.job})
          statuses.push_back(each->set_value(tied.parts[i].name, parts[i]));
      for (const Status& status : statuses)
        if (!status.ok()) return check("set_value(" + tied.type.name + "): " + text_of(status));
    }
  }

  Inputs random_inputs(const ComparedState& state) {
    std::map<std::string, int64_t> sizes = state.dims;
    sizes["n"] = random_.one_of<int64_t>({0, 1, 1, 1, 2, 3});
    sizes["m"] = random_.between(0, 2);
    Inputs inputs;
    for (const TensorSignature& input : plain_.module().signature().inputs)
      if (std::ranges::find(tied_, input.name, [](auto& tied) { return tied.type.name; }) ==
          tied_.end())
        inputs[input.name] = random_tensor(random_, input.dtype, shape_of(input, sizes));
    return inputs;
  }

  void call(size_t index, Fault fault) {
    ComparedState& state = states_[index];
    const Inputs inputs = random_inputs(state);
    log("call with state " + std::to_string(index) + ", fault " +
        std::to_string(static_cast<int>(fault)) + rows_text(inputs));
    CallOptions options;
    if (fault == Fault::kDeadline)
      options.deadline =
          std::chrono::steady_clock::now() + std::chrono::microseconds(random_.below(300));
    if (fault == Fault::kAllocation) job_.fail_at(random_.between(1, 6), random_);
    if (random_.chance(30)) job_.renew_call();
    const Status job = job_.run(state.job, inputs, options, fault == Fault::kCancel);
    job_.fail_at(0, random_);
    if (fault == Fault::kCancel) job_.renew_call();  // an invalid call is not cancelled
    if (is_interrupted(fault, job, "call")) {
      if (random_.chance(30)) check(state.difference_of(tied_));
      return;
    }
    const Status alone = alone_.run(state.alone, inputs, {}, false);
    const Status plain = plain_.run(state.plain, inputs, {}, false);
    if (job.code() != plain.code() || alone.code() != plain.code())
      return check("call: " + text_of(job) + " (job), " + text_of(alone) + " (one process), " +
                   text_of(plain) + " (one rank)");
    if (!job.ok()) {
      ++counts_.rejected;
      if (job.message() != alone.message())
        check("call: " + text_of(job) + " (job), " + text_of(alone) + " (one process)");
      if (random_.chance(60)) reset(index);
      return;
    }
    ++counts_.calls;
    for (const TiedInput& tied : tied_)
      for (const std::string& output : tied.parts_outputs)
        has_remote_ = has_remote_ || job_.call().output(output)->is_empty();
    check_results(state);
    if (random_.chance(30)) check(state.difference_of(tied_));
  }

  std::string rows_text(const Inputs& inputs) const {
    std::string text;
    for (const auto& [name, tensor] : inputs) {
      text += ", " + name + "[";
      for (const int64_t dim : tensor.dims()) text += std::to_string(dim) + " ";
      text += "]";
    }
    return text;
  }

  void check_results(const ComparedState& state) {
    for (const TensorSignature& output : plain_.module().signature().outputs) {
      if (std::ranges::find(tied_, output.name, &TiedInput::output) != tied_.end()) continue;
      const Result<Tensor> expected = plain_.call().output(output.name);
      if (!expected.ok()) return check(text_of(expected.status()));
      for (const auto& [name, execution] : {std::pair("one process", &alone_), {"job", &job_}}) {
        const Result<Tensor> actual = execution->call().output(output.name);
        if (!actual.ok()) return check(text_of(actual.status()));
        const std::string wrong = difference(*actual, *expected);
        if (!wrong.empty()) return check(std::string(name) + ", " + output.name + ": " + wrong);
      }
    }
    check_memory(state);
  }

  // The bytes that a state stores of the results, by pool. The bounds contain them.
  std::map<std::string, int64_t> stored_bytes(const ComparedState& state) {
    std::map<std::string, int64_t> sizes;
    for (const DimensionSignature& dimension : job_.module().signature().dimensions) {
      const auto found = state.dims.find(dimension.name);
      sizes[dimension.name] = found == state.dims.end() ? dimension.min : found->second;
    }
    std::map<std::string, int64_t> bytes;
    const auto bound = job_.module().memory_bound(sizes, 1);
    if (!bound.ok()) {
      check("memory_bound(): " + text_of(bound.status()));
      return bytes;
    }
    for (const TiedInput& tied : tied_) {
      if (!tied.has_one_size) continue;
      for (size_t i = 0; i < tied.parts.size(); ++i)
        for (const MemoryLine& line : bound->lines)
          if (line.is_result && line.what == tied.parts_outputs[i])
            bytes[pool_of(line)] += state.alone.value(tied.parts[i].name)->bytes();
    }
    return bytes;
  }

  template <typename Use>
  static std::string pool_of(const Use& use) {
    return std::string(use.device) + "." + std::string(use.scope);
  }

  // The bytes of the pools are those of one process, and the peaks are the bounds without the
  // results that the state stores.
  void check_memory(const ComparedState& state) {
    const auto &job = job_.call().stats().memory, &alone = alone_.call().stats().memory;
    const std::map<std::string, int64_t> stored = stored_bytes(state);
    for (size_t i = 0; i < job.size(); ++i) {
      const auto found = stored.find(pool_of(job[i]));
      const int64_t bytes = found == stored.end() ? 0 : found->second;
      const auto numbers = [](const ScopeUse& use) {
        return "lower bound " + std::to_string(use.lower_bound_bytes) + ", bound " +
               std::to_string(use.bound_bytes) + ", peak " + std::to_string(use.peak_bytes);
      };
      if (job[i].bound_bytes != alone[i].bound_bytes || job[i].peak_bytes != alone[i].peak_bytes ||
          job[i].bound_bytes != job[i].peak_bytes + bytes)
        return check(pool_of(job[i]) + ": " + numbers(job[i]) + " (job), " + numbers(alone[i]) +
                     " (one process), " + std::to_string(bytes) + " stored bytes");
    }
  }

  // Releases all but the first state, and compares the live bytes with those before the others.
  void check_released(const std::vector<std::string>& before) {
    states_.erase(states_.begin() + 1, states_.end());
    job_.renew_call();
    reset(0);  // sends the releases to the other ranks
    if (!has_remote_) return;
    const std::vector<std::string> after = job_.live_bytes();
    for (size_t i = 0; i < before.size(); ++i)
      if (after[i] != before[i]) return check("at the end, " + after[i] + ", before " + before[i]);
  }

  const RandomModel& model_;
  Random random_;
  Execution plain_, alone_, job_;
  const std::vector<TiedInput> tied_;
  bool has_remote_ = false;  // a state is in memory of another rank
  Counts& counts_;
  std::vector<ComparedState> states_;
  std::vector<std::string> log_;
  std::string wrong_;
};

bool cannot_be_distributed(const Status& status) {
  const auto contains = [&](std::string_view text) {
    return status.message().find(text) != std::string_view::npos;
  };
  if (status.code() == StatusCode::kInvalidArgument) return contains("--split");
  return status.code() == StatusCode::kInvalidModel &&
         ((contains(" is required ") && contains(" and ")) ||
          contains(" does not have the scope required by "));
}

}  // namespace

void Counts::add(const Counts& other) {
  models += other.models;
  refused += other.refused;
  remote += other.remote;
  calls += other.calls;
  operations += other.operations;
  interrupted += other.interrupted;
  rejected += other.rejected;
}

std::string compare_executions(const RandomModel& model, uint64_t seed, int64_t operations,
                               unsigned wait_seconds, Counts& counts) {
  const TemporaryFile file(model.text);
  ++counts.models;
  std::vector<Module> modules;
  for (const bool is_distributed : {false, true}) {
    const auto output = compile(model.options(file.path(), is_distributed));
    if (!output.ok() && is_distributed && cannot_be_distributed(output.status())) {
      ++counts.refused;
      return "";
    }
    if (!output.ok()) return "compile: " + text_of(output.status());
    auto module = Module::load_bytes(output->module);
    if (!module.ok()) return "load: " + text_of(module.status());
    modules.push_back(*std::move(module));
  }
  return Comparison(model, seed, modules[0], modules[1], counts).run(operations, wait_seconds);
}

}  // namespace scopevm::ranks
