// Compares assignments of tasks to devices with exhaustive search, on small random problems.
#include "compiler/placement/solve/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>

namespace scopevm::compiler::placement {
namespace {

constexpr int kProblems = 5000;
constexpr DeviceIndex kFirst{0}, kSecond{1};

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
  // The index of a random element of `items` after the first `skipped`.
  template <typename Index, typename T>
  Index any_of(const IndexedVector<Index, T>& items, uint32_t skipped = 0) {
    const int count = static_cast<int>(items.size() - skipped);
    return {skipped + static_cast<uint32_t>(below(count))};
  }

  void make_machine() {
    const int devices = 2 + below(2);
    for (int i = 0; i < devices; ++i) {
      const DeviceIndex d = machine_.devices.next_index();
      machine_.devices.push_back(
          {"d" + std::to_string(i), i > 0 && below(2) == 0 ? "opencl" : "cpu"});
      add_pool("global", PoolKind::kHeap, d);
      add_pool("global.constant", PoolKind::kConstant, d);
    }
    if (below(3) == 0) {
      add_pool("global.shared", PoolKind::kHeap, kFirst);
      for (DeviceIndex d : machine_.devices.indices() | std::views::drop(1))
        if (machine_.devices[d].is_host()) machine_.pools.back().reached.push_back(d);
    }
    if (below(3) == 0) add_pool("global.fast", PoolKind::kArena, any_of(machine_.devices));
    if (below(8) == 0)
      for (DeviceIndex d : machine_.devices.indices() | std::views::drop(below(2)))
        add_pool("global.slow", PoolKind::kArena, d);
  }

  void add_pool(const std::string& scope, PoolKind kind, DeviceIndex device) {
    const double read = 1e9 * (1 + below(3)), write = 1e9 * (1 + below(3));
    machine_.pools.push_back({.scope = scope,
                              .kind = kind,
                              .device = device,
                              .reached = {device},
                              .planned_speed = {read, write, 1e-6 * below(3), 1 + below(64)}});
  }

  void make_tasks() {
    const int count = 2 + below(6);
    for (int t = 0; t < count; ++t) {
      Task task{.preferred = any_of(machine_.devices)};
      for (DeviceIndex d : machine_.devices.indices()) task.devices.push_back(d);
      if (below(3) == 0) task.devices = {any_of(machine_.devices)};
      problem_.tasks.push_back(task);
    }
  }

  void make_flows() {
    for (TaskIndex maker : problem_.tasks.indices()) {
      const uint32_t after = maker.value + 1;
      if (after == problem_.tasks.size()) break;
      Flow flow{.maker = maker, .bytes = 1000.0 * (1 + below(9)), .times = 1.0 + below(2)};
      const int readers = 1 + below(3);
      flow.is_free = below(10) == 0;
      flow.writes = flow.is_free ? 0 : flow.times * below(2);
      for (int i = 0; i < readers; ++i)
        flow.readers.push_back({any_of(problem_.tasks, after),
                                flow.is_free ? PoolRequirement() : pool_or_any(), 1.0 * below(3)});
      if (flow.is_free) {
        problem_.flows.push_back(flow);
        continue;
      }
      if (below(8) == 0) flow.pool = PoolRequirement::own_scope();
      if (problem_.tasks[maker].devices.size() == 1 && below(6) == 0)
        flow.pool = machine_.global_pool(problem_.tasks[maker].devices[0]);
      problem_.flows.push_back(flow);
    }
    if (std::ranges::find(machine_.pools, "global.slow", &Pool::scope) == machine_.pools.end())
      return;
    for (Flow& flow : problem_.flows) {
      if (flow.is_free) continue;
      if (flow.pool.is_any() && below(4) == 0) flow.pool = scope_for(flow.maker);
      for (Reader& reader : flow.readers)
        if (reader.pool.is_any() && below(4) == 0) reader.pool = scope_for(reader.task);
    }
  }

  // A scope requirement for the task. Restricts the task's devices to those with this scope;
  // returns "any pool" if no device has it.
  PoolRequirement scope_for(TaskIndex task) {
    std::vector<DeviceIndex> devices = problem_.tasks[task].devices;
    std::erase_if(devices, [&](DeviceIndex d) { return !machine_.find_pool(d, "global.slow"); });
    if (devices.empty()) return {};
    problem_.tasks[task].devices = devices;
    return PoolRequirement::own_scope("global.slow");
  }

  PoolRequirement pool_or_any() {
    if (below(8) == 0) return PoolRequirement::own_scope();
    if (below(12) != 0) return {};
    const PoolIndex pool = any_of(machine_.pools);
    return machine_.pools[pool].kind == PoolKind::kConstant ? PoolRequirement() : pool;
  }

  std::mt19937 random_;
  Machine machine_;
  Problem problem_;
};

// Exhaustive search over all assignments, and for each value over all pools and all sets of copies.
class ExhaustiveSearch {
 public:
  explicit ExhaustiveSearch(const Problem& problem)
      : problem_(problem), machine_(*problem.machine) {
    devices_.resize(problem.tasks.size());
    least_.resize(problem.flows.size());
    try_task({0});
  }
  Cost best() const { return *best_; }

 private:
  void try_task(TaskIndex task) {
    if (task == devices_.next_index()) return count();
    for (DeviceIndex device : problem_.tasks[task].devices) {
      devices_[task] = device;
      try_task({task.value + 1});
    }
  }

  void count() {
    Cost cost;
    for (TaskIndex task : devices_.indices())
      cost.displaced += devices_[task] != problem_.tasks[task].preferred;
    for (FlowIndex flow : problem_.flows.indices())
      cost.time += problem_.flows[flow].is_free ? reads_of_constant(flow) : least(flow);
    if (!best_ || cost < *best_) best_ = cost;
  }

  int64_t reads_of_constant(FlowIndex index) const {
    const Flow& flow = problem_.flows[index];
    int64_t sum = 0;
    for (const Reader& reader : flow.readers)
      sum += read(machine_.constant_pool(devices_[reader.task]), flow, reader.reads);
    return sum;
  }

  int64_t read(PoolIndex pool, const Flow& flow, double times) const {
    return picoseconds(machine_.pools[pool].planned_speed.read_seconds(flow.bytes) * times);
  }
  static int64_t picoseconds(double seconds) {
    return static_cast<int64_t>(std::ceil(seconds * 1e12));
  }

  // The result depends only on the devices of the flow's tasks, so it is cached by these devices.
  int64_t least(FlowIndex index) {
    const Flow& flow = problem_.flows[index];
    std::vector<DeviceIndex> devices = {devices_[flow.maker]};
    for (const Reader& reader : flow.readers) devices.push_back(devices_[reader.task]);
    const auto [known, is_new] = least_[index].try_emplace(std::move(devices));
    if (is_new) known->second = search(flow);
    return known->second;
  }

  int64_t search(const Flow& flow) const {
    int64_t least = INT64_MAX;
    for (PoolIndex home : machine_.pools.indices()) {
      if (!is_home(flow, home, devices_[flow.maker])) continue;
      for (Copies copies = 0; copies < 1u << machine_.pools.size(); ++copies)
        if (serves(flow, home, copies)) least = std::min(least, cost(flow, home, copies));
    }
    return least;
  }

  using Copies = uint32_t;  // one bit per pool
  static bool has(Copies copies, PoolIndex pool) { return (copies >> pool.value & 1) == 1; }

  // Whether the producer, on device `maker`, can store the value in pool `home`.
  bool is_home(const Flow& flow, PoolIndex home, DeviceIndex maker) const {
    if (machine_.pools[home].kind == PoolKind::kConstant) return false;
    if (!flow.pool.is_any()) return home == flow.pool.on(machine_, maker);
    if (!machine_.reaches(maker, home)) return false;
    // A pool that only the producer reaches must be "global" or required by a reader.
    return machine_.pools[home].scope == "global" || machine_.pools[home].reached.size() > 1 ||
           std::ranges::any_of(flow.readers, [&](const Reader& reader) {
             return !reader.pool.is_any() &&
                    (reader.pool.on(machine_, devices_[reader.task]) == home ||
                     reader.pool.on(machine_, maker) == home);
           });
  }

  // Whether each reader can read the value in `home` or in one of the copies.
  bool serves(const Flow& flow, PoolIndex home, Copies copies) const {
    for (const Reader& reader : flow.readers) {
      const DeviceIndex device = devices_[reader.task];
      bool is_served = false;
      for (PoolIndex pool : machine_.pools.indices()) {
        if (pool != home && !has(copies, pool)) continue;
        if (machine_.pools[pool].kind == PoolKind::kConstant) continue;
        is_served = is_served || (reader.pool.is_any() ? machine_.reaches(device, pool)
                                                       : reader.pool.on(machine_, device) == pool);
      }
      if (!is_served) return false;
    }
    return true;
  }

  // The time of these copies, and of the accesses. INT64_MAX if one of them goes through the host,
  // but none is in the host's "global" pool.
  int64_t cost(const Flow& flow, PoolIndex home, Copies copies) const {
    int64_t sum =
        picoseconds(machine_.pools[home].planned_speed.write_seconds(flow.bytes) * flow.writes);
    for (const Reader& reader : flow.readers) sum += least_read(flow, reader, home, copies);
    for (PoolIndex pool : machine_.pools.indices()) {
      if (!has(copies, pool)) continue;
      const bool is_by_host = machine_.is_by_host(home, pool);
      if (is_by_host && !has(copies, host_)) return INT64_MAX;
      sum += picoseconds(machine_.copy_seconds(is_by_host ? host_ : home, pool, flow.bytes) *
                         flow.times);
    }
    return sum;
  }

  // A reader that reaches the value reads no copy, unless it requires one.
  int64_t least_read(const Flow& flow, const Reader& reader, PoolIndex home, Copies copies) const {
    const DeviceIndex device = devices_[reader.task];
    if (!reader.pool.is_any()) return read(*reader.pool.on(machine_, device), flow, reader.reads);
    if (machine_.reaches(device, home)) return read(home, flow, reader.reads);
    int64_t least = INT64_MAX;
    for (PoolIndex pool : machine_.pools.indices())
      if (has(copies, pool) && machine_.reaches(device, pool) &&
          machine_.pools[pool].kind != PoolKind::kConstant)
        least = std::min(least, read(pool, flow, reader.reads));
    return least;
  }

  const Problem& problem_;
  const Machine& machine_;
  const PoolIndex host_ = machine_.global_pool(machine_.host_device());
  IndexedVector<TaskIndex, DeviceIndex> devices_;
  IndexedVector<FlowIndex, std::map<std::vector<DeviceIndex>, int64_t>> least_;
  std::optional<Cost> best_;
};

// An additional pool never makes the result more expensive.
TEST(Assignment, APoolDoesNotIncreaseTheCost) {
  for (uint32_t seed = 0; seed < kProblems / 5; ++seed) {
    RandomProblem random(seed);
    const Cost without = assign(random.problem()).cost;
    Machine machine = random.machine();
    machine.pools.push_back(
        {.scope = "global.more",
         .kind = PoolKind::kArena,
         .device = kFirst,
         .reached = {kFirst, kSecond},
         .planned_speed = {1e8 * (1 + seed % 40), 1e8 * (1 + seed % 30), 0, 1}});
    Problem problem = random.problem();
    problem.machine = &machine;
    ASSERT_LE(assign(problem).cost.time, without.time) << "seed " << seed;
  }
}

TEST(Assignment, EqualsBruteForce) {
  int proved = 0;
  for (uint32_t seed = 0; seed < kProblems; ++seed) {
    RandomProblem random(seed);
    const Assignment found = assign(random.problem());
    const Cost best = ExhaustiveSearch(random.problem()).best();
    ASSERT_EQ(found.cost.time, best.time) << "seed " << seed;
    ASSERT_EQ(found.cost.displaced, best.displaced)
        << "seed " << seed << ", " << random.machine().devices.size() << " devices, "
        << random.problem().tasks.size() << " tasks, proved: " << found.is_proved;
    ASSERT_EQ(cost_of(random.problem(), found.devices), found.cost) << "seed " << seed;
    proved += found.is_proved;
  }
  EXPECT_EQ(proved, kProblems);
}

// A long chain of tasks between two fixed tasks: one copy, of the smallest value.
TEST(Assignment, CutsALongChainAtItsSmallestValue) {
  Machine machine = Machine::host();
  machine.devices.push_back({"npu", "cpu"});
  machine.pools.push_back(
      {.scope = "global", .kind = PoolKind::kHeap, .device = kSecond, .reached = {kSecond}});
  constexpr uint32_t kTasks = 5000, kSmallest = 3210;
  Problem problem{.machine = &machine};
  for (uint32_t t = 0; t < kTasks; ++t) problem.tasks.push_back({{kFirst, kSecond}, {}});
  problem.tasks.front().devices = {kFirst};
  problem.tasks.back().devices = {kSecond};
  for (uint32_t t = 0; t + 1 < kTasks; ++t)
    problem.flows.push_back({.maker = {t},
                             .bytes = t == kSmallest ? 100.0 : 1000.0 + t % 7,
                             .readers = {{.task = {t + 1}}}});
  const Assignment found = assign(problem);
  EXPECT_TRUE(found.is_proved);
  for (uint32_t t = 0; t < kTasks; ++t)
    ASSERT_EQ(found.devices[{t}], t <= kSmallest ? kFirst : kSecond) << t;
}

}  // namespace
}  // namespace scopevm::compiler::placement
