// Assignments of tasks to devices against all others, on random small problems.
#include "compiler/placement/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>

namespace scopevm::compiler::placement {
namespace {

constexpr int kProblems = 5000;

class RandomProblem {
 public:
  explicit RandomProblem(uint32_t seed) : random_(seed) {
    make_machine();
    make_tasks();
    make_flows();
    problem_.machine = &machine_;
  }
  const Problem& problem() const { return problem_; }
  const Machine& machine() const { return machine_; }

 private:
  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }

  void make_machine() {
    const int devices = 2 + below(2);
    for (int d = 0; d < devices; ++d) {
      machine_.devices.push_back(
          {"d" + std::to_string(d), d > 0 && below(2) == 0 ? "opencl" : "cpu"});
      add_pool("global", PoolKind::kHeap, d);
      add_pool("global.constant", PoolKind::kConstant, d);
    }
    if (below(3) == 0) {
      add_pool("global.shared", PoolKind::kHeap, 0);
      for (int d = 1; d < devices; ++d)
        if (machine_.devices[d].is_host()) machine_.pools.back().reached.push_back(d);
    }
    if (below(3) == 0) add_pool("global.fast", PoolKind::kArena, below(devices));
    if (below(8) == 0)
      for (int d = below(2); d < devices; ++d) add_pool("global.slow", PoolKind::kArena, d);
  }

  void add_pool(const std::string& scope, PoolKind kind, int device) {
    machine_.pools.push_back({.scope = scope,
                              .kind = kind,
                              .device = device,
                              .reached = {device},
                              .bytes_per_second = 1e9 * (1 + below(3)),
                              .latency_seconds = 1e-6 * below(3)});
  }

  void make_tasks() {
    const int devices = static_cast<int>(machine_.devices.size());
    const int count = 2 + below(6);
    for (int t = 0; t < count; ++t) {
      Task task{.preferred = below(devices)};
      for (int d = 0; d < devices; ++d) task.devices.push_back(d);
      if (below(3) == 0) task.devices = {below(devices)};
      problem_.tasks.push_back(task);
    }
  }

  void make_flows() {
    const int tasks = static_cast<int>(problem_.tasks.size());
    for (int maker = 0; maker + 1 < tasks; ++maker) {
      Flow flow{.maker = maker, .bytes = 1000.0 * (1 + below(9)), .times = 1.0 + below(2)};
      const int readers = 1 + below(3);
      for (int i = 0; i < readers; ++i)
        flow.readers.push_back({maker + 1 + below(tasks - maker - 1), pool_or_any()});
      if (below(8) == 0) flow.pool = kOwn;
      if (problem_.tasks[maker].devices.size() == 1 && below(6) == 0)
        flow.pool = machine_.global_pool(problem_.tasks[maker].devices[0]);
      problem_.flows.push_back(flow);
    }
    if (std::ranges::find(machine_.pools, "global.slow", &Pool::scope) == machine_.pools.end())
      return;
    for (Flow& flow : problem_.flows) {
      if (flow.pool == kAny && below(4) == 0) flow.pool = scope_for(flow.maker);
      for (Reader& reader : flow.readers)
        if (reader.pool == kAny && below(4) == 0) reader.pool = scope_for(reader.task);
    }
  }

  // A scope that leaves the device open, but to those that have it. kAny where the task has no
  // such.
  int scope_for(int task) {
    std::vector<int> devices = problem_.tasks[task].devices;
    std::erase_if(devices, [&](int d) { return !machine_.find_pool(d, "global.slow"); });
    if (devices.empty()) return kAny;
    problem_.tasks[task].devices = devices;
    return own_scope(machine_, "global.slow");
  }

  int pool_or_any() {
    if (below(8) == 0) return kOwn;
    if (below(12) != 0) return kAny;
    int pool = below(static_cast<int>(machine_.pools.size()));
    return machine_.pools[pool].kind == PoolKind::kConstant ? kAny : pool;
  }

  std::mt19937 random_;
  Machine machine_;
  Problem problem_;
};

// Every assignment, and for each value every pool and every set of copies: no shortcut that the
// solver takes.
class Brute {
 public:
  explicit Brute(const Problem& problem) : problem_(problem), machine_(*problem.machine) {
    devices_.assign(problem.tasks.size(), 0);
    least_.resize(problem.flows.size());
    try_task(0);
  }
  Cost best() const { return *best_; }

 private:
  void try_task(size_t task) {
    if (task == devices_.size()) return count();
    for (int device : problem_.tasks[task].devices) {
      devices_[task] = device;
      try_task(task + 1);
    }
  }

  void count() {
    Cost cost;
    for (size_t i = 0; i < devices_.size(); ++i)
      cost.displaced += devices_[i] != problem_.tasks[i].preferred;
    for (size_t i = 0; i < problem_.flows.size(); ++i) cost.copies += least(i);
    if (!best_ || cost < *best_) best_ = cost;
  }

  // Depends on the devices of the flow's own tasks only: searched once for each choice of those.
  int64_t least(size_t index) {
    const Flow& flow = problem_.flows[index];
    std::vector<int> devices = {devices_[flow.maker]};
    for (const Reader& reader : flow.readers) devices.push_back(devices_[reader.task]);
    const auto [known, is_new] = least_[index].try_emplace(std::move(devices));
    if (is_new) known->second = search(flow);
    return known->second;
  }

  int64_t search(const Flow& flow) const {
    const int pools = static_cast<int>(machine_.pools.size()), maker = devices_[flow.maker];
    int64_t least = INT64_MAX;
    for (int home = 0; home < pools; ++home) {
      if (!is_home(flow, home, maker)) continue;
      for (int copies = 0; copies < 1 << pools; ++copies)
        if (serves(flow, home, copies)) least = std::min(least, cost(flow, home, copies));
    }
    return least;
  }

  bool is_home(const Flow& flow, int home, int maker) const {
    if (machine_.pools[home].kind == PoolKind::kConstant) return false;
    if (flow.pool >= 0) return home == flow.pool;
    if (flow.pool != kAny) return home == own(maker, flow.pool);
    if (!machine_.reaches(maker, home)) return false;
    // A pool of its maker alone is taken when a reader asks for it, and else only "global".
    return machine_.pools[home].scope == "global" || machine_.pools[home].reached.size() > 1 ||
           std::ranges::any_of(flow.readers, [&](const Reader& reader) {
             return reader.pool == home ||
                    (reader.pool < kAny && own(devices_[reader.task], reader.pool) == home) ||
                    (reader.pool < kAny && own(maker, reader.pool) == home);
           });
  }

  bool serves(const Flow& flow, int home, int copies) const {
    for (const Reader& reader : flow.readers) {
      const int device = devices_[reader.task];
      bool is_served = false;
      for (int pool = 0; pool < static_cast<int>(machine_.pools.size()); ++pool) {
        if (pool != home && (copies >> pool & 1) == 0) continue;
        if (machine_.pools[pool].kind == PoolKind::kConstant) continue;
        const int wanted = reader.pool < kAny ? own(device, reader.pool) : reader.pool;
        is_served = is_served || (wanted == kAny ? machine_.reaches(device, pool) : wanted == pool);
      }
      if (!is_served) return false;
    }
    return true;
  }

  // The pool of a scope that leaves the device open; kAny where the device lacks it.
  int own(int device, int scope) const {
    return machine_.find_pool(device, scope == kOwn ? "global" : "global.slow").value_or(kAny);
  }

  // What goes by way of the host starts from a copy that is there.
  int64_t cost(const Flow& flow, int home, int copies) const {
    int64_t sum = 0;
    for (int pool = 0; pool < static_cast<int>(machine_.pools.size()); ++pool) {
      if ((copies >> pool & 1) == 0) continue;
      const bool is_by_host = machine_.is_by_host(home, pool);
      if (is_by_host && (copies >> host_ & 1) == 0) return INT64_MAX;
      sum += static_cast<int64_t>(std::ceil(
          machine_.copy_seconds(is_by_host ? host_ : home, pool, flow.bytes) * flow.times * 1e12));
    }
    return sum;
  }

  const Problem& problem_;
  const Machine& machine_;
  const int host_ = machine_.global_pool(machine_.host_device());
  std::vector<int> devices_;
  std::vector<std::map<std::vector<int>, int64_t>> least_;  // for each flow, by devices
  std::optional<Cost> best_;
};

TEST(Assignment, EqualsBruteForce) {
  int proved = 0;
  for (uint32_t seed = 0; seed < kProblems; ++seed) {
    RandomProblem random(seed);
    const Assignment found = assign(random.problem());
    const Cost best = Brute(random.problem()).best();
    ASSERT_EQ(found.cost.copies, best.copies) << "seed " << seed;
    ASSERT_EQ(found.cost.displaced, best.displaced)
        << "seed " << seed << ", " << random.machine().devices.size() << " devices, "
        << random.problem().tasks.size() << " tasks, proved: " << found.is_proved;
    ASSERT_EQ(cost_of(random.problem(), found.devices), found.cost) << "seed " << seed;
    proved += found.is_proved;
  }
  EXPECT_EQ(proved, kProblems);
}

// A chain of many tasks between two pins: one copy, where the value is smallest.
TEST(Assignment, CutsALongChainWhereItIsThinnest) {
  Machine machine = Machine::host();
  machine.devices.push_back({"npu", "cpu"});
  machine.pools.push_back(
      {.scope = "global", .kind = PoolKind::kHeap, .device = 1, .reached = {1}});
  constexpr int kTasks = 5000, kThin = 3210;
  Problem problem{.machine = &machine};
  for (int t = 0; t < kTasks; ++t) problem.tasks.push_back({{0, 1}});
  problem.tasks.front().devices = {0};
  problem.tasks.back().devices = {1};
  for (int t = 0; t + 1 < kTasks; ++t)
    problem.flows.push_back(
        {.maker = t, .bytes = t == kThin ? 100.0 : 1000.0 + t % 7, .readers = {{t + 1}}});
  const Assignment found = assign(problem);
  EXPECT_TRUE(found.is_proved);
  for (int t = 0; t < kTasks; ++t) ASSERT_EQ(found.devices[t], t <= kThin ? 0 : 1) << t;
}

}  // namespace
}  // namespace scopevm::compiler::placement
