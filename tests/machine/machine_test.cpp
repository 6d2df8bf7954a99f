// parse_machine: the Machine that results from a valid description.
#include "compiler/machine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ranges>
#include <string>
#include <vector>

#include "tests/machine/descriptions.h"

namespace scopevm::compiler {
namespace {

using ::testing::ElementsAre;
using testing::with_device;
using testing::with_pools;

// The first three devices of a description. In with_pools(), these are "cpu", "npu" and "gpu".
constexpr DeviceIndex kFirst{0}, kSecond{1}, kThird{2};

Machine read(const std::string& json) {
  Result<Machine> machine = testing::parse(json);
  EXPECT_TRUE(machine.ok()) << machine.status().message();
  return machine.ok() ? *std::move(machine) : Machine::host();
}

std::vector<std::string> scopes(const Machine& machine) {
  std::vector<std::string> all;
  for (const Pool& pool : machine.pools)
    all.push_back(machine.devices[pool.device].name + "." + pool.scope);
  return all;
}

TEST(Machine, OneCpuIsTheHost) {
  const Machine machine = read(R"({"devices": [{"name": "cpu", "kind": "cpu"}]})");
  const Machine host = Machine::host();
  EXPECT_EQ(machine.devices.size(), 1u);
  EXPECT_EQ(machine.default_device, kFirst);
  EXPECT_EQ(machine.host_device(), kFirst);
  EXPECT_EQ(scopes(machine), scopes(host));
  for (PoolIndex i : machine.pools.indices()) {
    EXPECT_EQ(machine.pools[i].kind, host.pools[i].kind);
    EXPECT_EQ(machine.pools[i].limit, host.pools[i].limit);
    EXPECT_EQ(machine.pools[i].speed, host.pools[i].speed);
    EXPECT_EQ(machine.pools[i].planned_speed, host.pools[i].planned_speed);
    EXPECT_THAT(machine.pools[i].reached, ElementsAre(kFirst));
  }
}

TEST(Machine, CopiesBetweenRanksTakeTheTimeOfTheirLink) {
  const Machine machine = read(R"({
    "devices": [{"name": "a", "kind": "cpu"}, {"name": "b", "kind": "cpu", "rank": 1},
                {"name": "c", "kind": "cpu", "rank": 2}, {"name": "gpu", "kind": "opencl"}],
    "links": [{"ranks": [1, 0], "bytes_per_second": 1e9, "latency_seconds": 1e-3}]})");
  EXPECT_EQ(machine.ranks(), 3);
  const auto pool = [&](const char* device) {
    return machine.global_pool(*machine.find_device(device));
  };
  constexpr double kBytes = 1e9;
  // Both pools have the defaults: 5e-6 s and 10e9 bytes/s.
  EXPECT_DOUBLE_EQ(machine.copy_seconds(pool("a"), pool("b"), kBytes), 1e-3 + 1);
  EXPECT_DOUBLE_EQ(machine.copy_seconds(pool("b"), pool("a"), kBytes), 1e-3 + 1);
  EXPECT_DOUBLE_EQ(machine.copy_seconds(pool("a"), pool("c"), kBytes), 5e-6 + 2 * 5e-6 + 0.1);
  // Another rank exchanges messages with the CPUs of rank 0 only.
  EXPECT_TRUE(machine.is_by_host(pool("gpu"), pool("b")));
  EXPECT_FALSE(machine.is_by_host(pool("c"), pool("b")));
}

TEST(Machine, EachDeviceHasItsThreePoolsAndEachCpuAStackAfterThem) {
  const Machine machine = read(with_pools(""));
  EXPECT_THAT(scopes(machine),
              ElementsAre("cpu.global", "cpu.global.workspace", "cpu.global.constant", "npu.global",
                          "npu.global.workspace", "npu.global.constant", "gpu.global",
                          "gpu.global.workspace", "gpu.global.constant", "cpu.global.stack",
                          "npu.global.stack"));
  const std::vector<PoolKind> kinds = {PoolKind::kHeap, PoolKind::kArena, PoolKind::kConstant};
  for (uint32_t i = 0; i < 9; ++i) EXPECT_EQ(machine.pools[{i}].kind, kinds[i % 3]) << i;
  for (const Pool& stack : machine.pools | std::views::drop(9)) {
    EXPECT_EQ(stack.kind, PoolKind::kStack);
    EXPECT_EQ(stack.limit, Machine::kStackBytes);
  }
  EXPECT_EQ(machine.stack_pool(kSecond), PoolIndex{10});
  EXPECT_EQ(machine.stack_pool(kThird), std::nullopt);
}

TEST(Machine, CpuDeclaresTheFrameBytesOfItsStack) {
  const Machine machine = read(R"({"devices": [{"name": "a", "kind": "cpu", "max_stack_bytes": 0},
      {"name": "b", "kind": "cpu", "max_stack_bytes": 1048576},
      {"name": "c", "kind": "cpu", "max_stack_bytes": 1}],
      "pools": [{"device": "b", "scope": "global", "reached_by": ["c"]}]})");
  EXPECT_EQ(machine.stack_pool(kFirst), std::nullopt);
  ASSERT_TRUE(machine.stack_pool(kSecond).has_value());
  EXPECT_EQ(machine.pools[*machine.stack_pool(kSecond)].limit, 1048576);
  EXPECT_THAT(machine.pools[*machine.stack_pool(kSecond)].reached, ElementsAre(kSecond, kThird))
      << "the pool is reached by the same devices as global";
  EXPECT_EQ(machine.pools[*machine.stack_pool(kThird)].limit, 1);
}

TEST(Machine, CpusHaveTheirOwnTargetOrThatOfTheFirst) {
  EXPECT_EQ(read(R"({"devices": [{"name": "a", "kind": "cpu"}]})").devices[kFirst].target, "");
  const Machine machine = read(R"({"devices": [
      {"name": "a", "kind": "cpu", "target_cpu": "x86-64-v3", "features": ["+avxvnni", "-f16c"]},
      {"name": "b", "kind": "cpu", "target_cpu": "x86-64-v2"}, {"name": "c", "kind": "cpu"}]})");
  EXPECT_EQ(machine.target_of(kFirst), "x86-64-v3,+avxvnni,-f16c");
  EXPECT_EQ(machine.target_of(kSecond), "x86-64-v2");
  EXPECT_EQ(machine.target_of(kThird), "x86-64-v3,+avxvnni,-f16c");
  EXPECT_EQ(read(R"({"devices": [{"name": "a", "kind": "cpu", "features": ["-avx"]}]})")
                .devices[kFirst]
                .target,
            "host,-avx");
}

TEST(Machine, HostIsTheFirstCpu) {
  const Machine machine = read(R"({"devices": [{"name": "gpu", "kind": "opencl"},
      {"name": "a", "kind": "cpu"}, {"name": "b", "kind": "cpu"}], "default_device": "b"})");
  EXPECT_EQ(machine.host_device(), kSecond);
  EXPECT_EQ(machine.default_device, kThird);
  EXPECT_EQ(read(with_pools("")).default_device, kFirst);
}

TEST(Machine, WorkersHaveADefaultPerKind) {
  const Machine machine = read(with_device(
      R"({"name": "a", "kind": "opencl"}, {"name": "b", "kind": "opencl", "workers": 256})"));
  EXPECT_EQ(machine.devices[kFirst].workers, 2);
  EXPECT_EQ(machine.devices[kSecond].workers, 64);
  EXPECT_EQ(machine.devices[kThird].workers, 256);
}

TEST(Machine, PoolsReplaceTheirDefaults) {
  const Machine machine = read(with_pools(
      R"({"device": "gpu", "scope": "global", "limit_bytes": 1000, "bytes_per_second": 2e9,
          "latency_seconds": 0}, {"device": "npu", "scope": "global.x.y_1", "kind": "heap",
          "bytes_per_second": 3e9, "read_bytes_per_second": 4e9, "burst_bytes": 64})"));
  const Pool& global = machine.pools[machine.global_pool(kThird)];
  EXPECT_EQ(global.kind, PoolKind::kHeap);
  EXPECT_EQ(global.limit, 1000);
  EXPECT_EQ(global.speed, (format::PoolSpeed{2e9, 2e9, 0, 1}));
  EXPECT_EQ(global.planned_speed, global.speed);
  const Pool& undescribed = machine.pools[machine.global_pool(kFirst)];
  EXPECT_EQ(undescribed.speed, format::PoolSpeed{});
  EXPECT_EQ(undescribed.planned_speed, (format::PoolSpeed{10e9, 10e9, 5e-6, 1}));
  const std::optional<PoolIndex> own = machine.find_pool(kSecond, "global.x.y_1");
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(machine.pools[*own].kind, PoolKind::kHeap);
  // The bandwidth of one direction takes precedence.
  EXPECT_EQ(machine.pools[*own].speed, (format::PoolSpeed{4e9, 3e9, 0, 64}));
  EXPECT_EQ(machine.pools[*own].planned_speed, (format::PoolSpeed{4e9, 3e9, 5e-6, 64}));
  EXPECT_FALSE(machine.find_pool(kFirst, "global.x.y_1").has_value());
  EXPECT_EQ(machine.pools.size(), 12u);
}

TEST(Machine, DefaultKindIsArena) {
  const Machine machine = read(with_pools(R"({"device": "npu", "scope": "global.fast"})"));
  EXPECT_EQ(machine.pools[*machine.find_pool(kSecond, "global.fast")].kind, PoolKind::kArena);
}

TEST(Machine, ReachedByNamesOtherDevices) {
  const Machine machine = read(with_pools(
      R"({"device": "npu", "scope": "global.shared", "reached_by": ["cpu", "npu", "cpu"]})"));
  const std::optional<PoolIndex> pool = machine.find_pool(kSecond, "global.shared");
  ASSERT_TRUE(pool.has_value());
  EXPECT_THAT(machine.pools[*pool].reached, ElementsAre(kSecond, kFirst));
  EXPECT_TRUE(machine.reaches(kFirst, *pool));
  EXPECT_FALSE(machine.reaches(kThird, *pool));
  EXPECT_EQ(machine.find_pool(kFirst, "global.shared"), pool)
      << "the CPU finds the pool by its scope";
  EXPECT_FALSE(machine.find_pool(kThird, "global.shared").has_value());
}

TEST(Machine, StandardPoolsAreReachableLikeGlobal) {
  for (const char* scope : {"global", "global.workspace"}) {
    const Machine machine = read(with_pools(
        R"({"device": "npu", "reached_by": ["cpu"], "scope": ")" + std::string(scope) + "\"}"));
    EXPECT_TRUE(machine.reaches(kFirst, machine.global_pool(kSecond))) << scope;
    EXPECT_TRUE(machine.reaches(kFirst, machine.workspace_pool(kSecond))) << scope;
    EXPECT_TRUE(machine.reaches(kFirst, machine.constant_pool(kSecond))) << scope;
  }
}

TEST(Machine, OrderOfPoolsDoesNotMatter) {
  const std::string a = R"({"device": "npu", "scope": "global.a"})";
  const std::string b = R"({"device": "npu", "scope": "global.b", "reached_by": ["cpu"]})";
  const std::string c = R"({"device": "cpu", "scope": "global", "limit_bytes": 5})";
  EXPECT_EQ(scopes(read(with_pools(a + "," + b + "," + c))),
            scopes(read(with_pools(c + "," + b + "," + a))));
}

TEST(Machine, CopyTakesBothLatenciesAndTheLowerBandwidth) {
  const Machine machine = read(with_pools(
      R"({"device": "cpu", "scope": "global", "bytes_per_second": 4e9, "latency_seconds": 1e-6},
         {"device": "npu", "scope": "global", "bytes_per_second": 1e9, "latency_seconds": 2e-6},
         {"device": "gpu", "scope": "global", "bytes_per_second": 2e9, "latency_seconds": 4e-6})"));
  const PoolIndex cpu = machine.global_pool(kFirst), npu = machine.global_pool(kSecond),
                  gpu = machine.global_pool(kThird);
  EXPECT_DOUBLE_EQ(machine.copy_seconds(cpu, npu, 1e9), 3e-6 + 1);
  EXPECT_DOUBLE_EQ(machine.copy_seconds(gpu, cpu, 1e9), 5e-6 + 0.5);
  EXPECT_FALSE(machine.is_by_host(npu, gpu));
}

TEST(Machine, CopyTakesTheReadLatencyOfTheSourceAndTheWriteLatencyOfTheDestination) {
  const Machine machine = read(with_pools(
      R"({"device": "cpu", "scope": "global", "latency_seconds": 1e-6},
         {"device": "npu", "scope": "global", "latency_seconds": 2e-6,
          "write_latency_seconds": 5e-4})"));
  const PoolIndex cpu = machine.global_pool(kFirst), npu = machine.global_pool(kSecond);
  EXPECT_DOUBLE_EQ(machine.copy_seconds(cpu, npu, 0), 1e-6 + 5e-4);
  EXPECT_DOUBLE_EQ(machine.copy_seconds(npu, cpu, 0), 2e-6 + 1e-6);
}

TEST(Machine, CopyReadsTheSourceAndWritesTheDestinationInBursts) {
  const Machine machine = read(with_pools(
      R"({"device": "cpu", "scope": "global", "read_bytes_per_second": 1e9,
          "write_bytes_per_second": 5e8, "latency_seconds": 0},
         {"device": "npu", "scope": "global", "read_bytes_per_second": 2e9,
          "write_bytes_per_second": 1e8, "burst_bytes": 1000, "latency_seconds": 0})"));
  const PoolIndex cpu = machine.global_pool(kFirst), npu = machine.global_pool(kSecond);
  // The destination writes whole bursts, more slowly than the source reads.
  EXPECT_DOUBLE_EQ(machine.copy_seconds(cpu, npu, 1), 1000 / 1e8);
  EXPECT_DOUBLE_EQ(machine.copy_seconds(cpu, npu, 1000), 1000 / 1e8);
  EXPECT_DOUBLE_EQ(machine.copy_seconds(cpu, npu, 1001), 2000 / 1e8);
  // Reading two bursts takes 1 us, and writing 1001 bytes takes longer.
  EXPECT_DOUBLE_EQ(machine.copy_seconds(npu, cpu, 1001), 1001 / 5e8);
  EXPECT_EQ(machine.copy_seconds(npu, cpu, 0), 0);
  EXPECT_DOUBLE_EQ(machine.pools[npu].access_seconds(1), (1000 / 2e9 + 1000 / 1e8) / 2);
}

TEST(Machine, CopyBetweenTwoAcceleratorsGoesThroughTheHost) {
  const Machine machine =
      read(with_device(R"({"name": "a", "kind": "opencl"}, {"name": "b", "kind": "opencl"})"));
  const PoolIndex cpu = machine.global_pool(kFirst), a = machine.global_pool(kSecond),
                  b = machine.global_pool(kThird);
  EXPECT_TRUE(machine.is_by_host(a, b));
  EXPECT_FALSE(machine.is_by_host(a, cpu));
  EXPECT_FALSE(machine.is_by_host(a, machine.workspace_pool(kSecond)));
  EXPECT_DOUBLE_EQ(machine.copy_seconds(a, b, 100),
                   machine.copy_seconds(a, cpu, 100) + machine.copy_seconds(cpu, b, 100));
}

// The alignment of a device applies to the heaps and arenas that it reaches. Constants (stored in
// the module) and frames are exempt.
TEST(Machine, PoolIsAlignedForAllDevicesThatReachIt) {
  const Machine machine = read(R"({"devices": [{"name": "a", "kind": "cpu", "alignment": 128},
      {"name": "b", "kind": "cpu", "alignment": 4096}, {"name": "c", "kind": "cpu"}],
      "pools": [{"device": "a", "scope": "global.x", "reached_by": ["c", "b"]},
                {"device": "c", "scope": "global.y", "reached_by": ["a"]}]})");
  std::vector<std::string> aligned;
  for (PoolIndex i : machine.pools.indices())
    if (machine.pools[i].alignment != Pool::kLeastAlignment)
      aligned.push_back(machine.pool_name(i) + " " + std::to_string(machine.pools[i].alignment));
  EXPECT_THAT(aligned, ElementsAre("a.global 128", "a.global.workspace 128", "a.global.x 4096",
                                   "b.global 4096", "b.global.workspace 4096", "c.global.y 128"));
}

TEST(Machine, PinnedPoolsAreForOneDevice) {
  const Machine machine = read(with_pools(R"(
      {"device": "npu", "scope": "global.x", "pinned_for": "gpu"})"));
  const DeviceIndex cpu = *machine.find_device("cpu"), npu = *machine.find_device("npu"),
                    gpu = *machine.find_device("gpu");
  EXPECT_EQ(machine.pinned_pool(npu, gpu), machine.find_pool(npu, "global.x"));
  EXPECT_EQ(machine.pinned_pool(cpu, gpu), std::nullopt);
  EXPECT_EQ(machine.pinned_pool(npu, cpu), std::nullopt);
  EXPECT_EQ(machine.pools[machine.global_pool(npu)].pinned_for, std::nullopt);
}

TEST(Machine, RemovedDevicesAreNotReferenced) {
  Machine machine = read(with_pools(R"(
      {"device": "cpu", "scope": "global.x", "reached_by": ["npu"]},
      {"device": "cpu", "scope": "global.y", "pinned_for": "gpu"})"));
  const Machine before = machine;
  const Machine::Renumbering now = machine.keep_devices({true, false, false});
  EXPECT_THAT(now.devices, ElementsAre(kFirst, std::nullopt, std::nullopt));
  ASSERT_EQ(now.pools.size(), before.pools.size());
  for (PoolIndex i : now.pools.indices()) {
    EXPECT_EQ(now.pools[i].has_value(), before.pools[i].device == kFirst) << i.value;
    if (now.pools[i]) EXPECT_EQ(machine.pool_name(*now.pools[i]), before.pool_name(i));
  }
  EXPECT_THAT(machine.pools[*machine.find_pool(kFirst, "global.x")].reached, ElementsAre(kFirst));
  EXPECT_EQ(machine.pools[*machine.find_pool(kFirst, "global.y")].pinned_for, std::nullopt);
}

}  // namespace
}  // namespace scopevm::compiler
