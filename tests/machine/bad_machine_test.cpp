// parse_machine: the error message for each kind of invalid description.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/machine/machine.h"
#include "tests/machine/descriptions.h"

namespace scopevm::compiler {
namespace {

using ::testing::HasSubstr;
using testing::with_device;
using testing::with_pools;

struct Bad {
  std::string json;
  std::string message;  // the complete message after "m.json: "
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.json; }

class BadMachine : public ::testing::TestWithParam<Bad> {};

TEST_P(BadMachine, ReportsTheMember) {
  const Result<Machine> machine = testing::parse(GetParam().json);
  ASSERT_FALSE(machine.ok());
  EXPECT_EQ(machine.status().code(), StatusCode::kInvalidModel);
  EXPECT_EQ(machine.status().message(), "m.json: " + GetParam().message);
}

const char* const kNamesOfPool =
    "device, scope, kind, limit_bytes, reached_by, bytes_per_second, "
    "read_bytes_per_second, write_bytes_per_second, latency_seconds, write_latency_seconds, "
    "burst_bytes, pinned_for";

INSTANTIATE_TEST_SUITE_P(
    Root, BadMachine,
    ::testing::Values(
        Bad{"[]", "expected an object, found []"}, Bad{"null", "expected an object, found null"},
        Bad{"3", "expected an object, found 3"}, Bad{"{}", "missing member \"devices\""},
        Bad{R"({"device": []})",
            "device: unknown member; expected one of devices, pools, links, default_device"},
        Bad{R"({"devices": {}})", "devices: expected an array, found {}"},
        Bad{R"({"devices": []})",
            "devices: expected at least one device of kind \"cpu\", which runs the VM"},
        Bad{R"({"devices": [{"name": "gpu", "kind": "opencl"}]})",
            "devices: expected at least one device of kind \"cpu\", which runs the VM"},
        Bad{R"({"devices": [{"name": "cpu", "kind": "cpu"}], "pools": 1})",
            "pools: expected an array, found 1"},
        Bad{R"({"devices": [{"name": "cpu", "kind": "cpu"}], "default_device": "gpu"})",
            "default_device: unknown device \"gpu\"; expected one of cpu"},
        Bad{R"({"devices": [{"name": "cpu", "kind": "cpu"}], "default_device": 0})",
            "default_device: expected a string, found 0"}));

INSTANTIATE_TEST_SUITE_P(
    Devices, BadMachine,
    ::testing::Values(
        Bad{with_device("7"), "devices[1]: expected an object, found 7"},
        Bad{with_device(R"({"kind": "cpu"})"), "devices[1]: missing member \"name\""},
        Bad{with_device(R"({"name": "x"})"), "devices[1]: missing member \"kind\""},
        Bad{with_device(R"({"name": 1, "kind": "cpu"})"),
            "devices[1].name: expected a string, found 1"},
        Bad{with_device(R"({"name": "", "kind": "cpu"})"),
            "devices[1].name: expected one or more letters, digits and _, found \"\""},
        Bad{with_device(R"({"name": "a.b", "kind": "cpu"})"),
            "devices[1].name: expected one or more letters, digits and _, found \"a.b\""},
        Bad{with_device(R"({"name": "a b", "kind": "cpu"})"),
            "devices[1].name: expected one or more letters, digits and _, found \"a b\""},
        Bad{with_device(R"({"name": "cpu", "kind": "cpu"})"),
            "devices[1].name: duplicate device name \"cpu\""},
        Bad{with_device(R"({"name": "x", "kind": "gpu"})"),
            "devices[1].kind: expected \"cpu\" or \"opencl\", found \"gpu\""},
        Bad{with_device(R"({"name": "x", "kind": null})"),
            "devices[1].kind: expected a string, found null"},
        Bad{with_device(R"({"name": "x", "kind": "cpu", "workers": 0})"),
            "devices[1].workers: expected an integer of at least 1, found 0"},
        Bad{with_device(R"({"name": "x", "kind": "opencl", "workers": 0})"),
            "devices[1].workers: expected an integer of at least 1, found 0"},
        Bad{with_device(R"({"name": "x", "kind": "opencl", "workers": 1.5})"),
            "devices[1].workers: expected an integer of at least 1, found 1.5"},
        Bad{with_device(R"({"name": "x", "kind": "opencl", "workers": 16777217})"),
            "devices[1].workers: expected at most 16777216, found 16777217"},
        Bad{with_device(R"({"name": "x", "kind": "opencl", "memory": 1})"),
            "devices[1].memory: unknown member; expected one of name, kind, workers, "
            "max_stack_bytes, alignment, rank, target_cpu, features"},
        Bad{with_device(R"({"name": "x", "kind": "opencl", "rank": 1})"),
            "devices[1].rank: expected 0 for a device of kind opencl: the other ranks have CPUs "
            "only"},
        Bad{with_device(R"({"name": "x", "kind": "cpu", "rank": -1})"),
            "devices[1].rank: expected an integer of at least 0, found -1"},
        Bad{with_device(R"({"name": "x", "kind": "cpu", "rank": 2})"),
            "devices: no device has rank 1, but one has rank 2"},
        Bad{R"({"devices": [{"name": "x", "kind": "cpu", "rank": 1}]})",
            "devices: the first CPU, which runs the VM, has rank 1; expected rank 0"},
        Bad{with_device(R"({"name": "x", "kind": "cpu", "alignment": 32})"),
            "devices[1].alignment: expected an integer of at least 64, found 32"},
        Bad{with_device(R"({"name": "x", "kind": "cpu", "alignment": 96})"),
            "devices[1].alignment: expected a power of two, at most 4096, found 96"},
        Bad{with_device(R"({"name": "x", "kind": "opencl", "alignment": 8192})"),
            "devices[1].alignment: expected a power of two, at most 4096, found 8192"},
        Bad{with_device(R"({"name": "x", "kind": "opencl", "target_cpu": "x86-64"})"),
            "devices[1].target_cpu: not allowed for an OpenCL device: its driver compiles the "
            "kernels"},
        Bad{R"({"devices": [{"name": "x", "kind": "cpu", "features": "+avx"}]})",
            "devices[0].features: expected an array, found \"+avx\""},
        Bad{R"({"devices": [{"name": "x", "kind": "cpu", "target_cpu": 3}]})",
            "devices[0].target_cpu: expected a string, found 3"},
        Bad{with_device(R"({"name": "x", "kind": "opencl", "max_stack_bytes": 64})"),
            "devices[1].max_stack_bytes: only a CPU has a stack"},
        Bad{with_device(R"({"name": "x", "kind": "cpu", "max_stack_bytes": -1})"),
            "devices[1].max_stack_bytes: expected an integer of at least 0, found -1"},
        Bad{with_device(R"({"name": "x", "kind": "cpu", "max_stack_bytes": 1048577})"),
            "devices[1].max_stack_bytes: expected at most 1048576, found 1048577"}));

// A description of two ranks with links.
std::string with_links(const std::string& links) {
  return R"({"devices": [{"name": "a", "kind": "cpu"}, {"name": "b", "kind": "cpu", "rank": 1}],
             "links": [)" +
         links + "]}";
}

INSTANTIATE_TEST_SUITE_P(
    Links, BadMachine,
    ::testing::Values(
        Bad{with_links("{}"), "links[0]: missing member \"ranks\""},
        Bad{with_links(R"({"ranks": [0]})"), "links[0].ranks: expected 2 elements, found 1"},
        Bad{with_links(R"({"ranks": [1, 1]})"), "links[0].ranks: expected two different ranks"},
        Bad{with_links(R"({"ranks": [0, 2]})"), "links[0].ranks[1]: no device has rank 2"},
        Bad{with_links(R"({"ranks": [0, 1]}, {"ranks": [1, 0]})"),
            "links[1].ranks: a second link of these ranks"},
        Bad{R"({"devices": [{"name": "a", "kind": "cpu"}, {"name": "b", "kind": "cpu", "rank": 1}],
                "pools": [{"device": "a", "scope": "global.x", "reached_by": ["b"]}]})",
            "pools[0].reached_by[0]: device \"b\" has another rank than the pool"}));

INSTANTIATE_TEST_SUITE_P(
    Pools, BadMachine,
    ::testing::Values(
        Bad{with_pools("\"x\""), "pools[0]: expected an object, found \"x\""},
        Bad{with_pools(R"({"scope": "global"})"), "pools[0]: missing member \"device\""},
        Bad{with_pools(R"({"device": "cpu"})"), "pools[0]: missing member \"scope\""},
        Bad{with_pools(R"({"device": "gpv", "scope": "global"})"),
            "pools[0].device: unknown device \"gpv\"; expected one of cpu, npu, gpu"},
        Bad{with_pools(R"({"device": "cpu", "scope": "local"})"),
            "pools[0].scope: expected \"global\" or \"global.NAME\", found \"local\""},
        Bad{with_pools(R"({"device": "cpu", "scope": "global.stack"})"),
            "pools[0].scope: reserved for the stack; set \"max_stack_bytes\" of the device "
            "instead"},
        Bad{with_pools(R"({"device": "cpu", "scope": "globals"})"),
            "pools[0].scope: expected \"global\" or \"global.NAME\", found \"globals\""},
        Bad{with_pools(R"({"device": "cpu", "scope": "global."})"),
            "pools[0].scope: expected \"global\" or \"global.NAME\", found \"global.\""},
        Bad{with_pools(R"({"device": "cpu", "scope": "global..a"})"),
            "pools[0].scope: expected \"global\" or \"global.NAME\", found \"global..a\""},
        Bad{with_pools(R"({"device": "cpu", "scope": ""})"),
            "pools[0].scope: expected \"global\" or \"global.NAME\", found \"\""},
        Bad{with_pools(R"({"device": "npu", "scope": "global.a"},
                          {"device": "npu", "scope": "global.a"})"),
            "pools[1].scope: duplicate scope \"global.a\" of device \"npu\""},
        Bad{with_pools(R"({"device": "cpu", "scope": "global.a", "kind": "ring"})"),
            "pools[0].kind: expected \"heap\", \"arena\" or \"constant\", found "
            "\"ring\""},
        Bad{with_pools(R"({"device": "cpu", "scope": "global", "kind": "arena"})"),
            "pools[0].kind: scope \"global\" must be of kind \"heap\", found \"arena\""},
        Bad{with_pools(R"({"device": "cpu", "scope": "global.constant", "kind": "heap"})"),
            "pools[0].kind: scope \"global.constant\" must be of kind \"constant\", found "
            "\"heap\""},
        Bad{with_pools(R"({"device": "cpu", "scope": "global", "limit_bytes": -1})"),
            "pools[0].limit_bytes: expected an integer of at least 0, found -1"},
        Bad{with_pools(R"({"device": "cpu", "scope": "global", "limit_bytes": "8 GB"})"),
            "pools[0].limit_bytes: expected an integer of at least 0, found \"8 GB\""},
        Bad{with_pools(
                R"({"device": "cpu", "scope": "global", "limit_bytes": 18446744073709551615})"),
            "pools[0].limit_bytes: expected an integer of at most 9223372036854775807, found "
            "18446744073709551615"},
        Bad{with_pools(R"({"device": "cpu", "scope": "global", "bytes_per_second": 0})"),
            "pools[0].bytes_per_second: expected a number from 1.0 to 1e+18, found 0"},
        Bad{with_pools(R"({"device": "cpu", "scope": "global", "write_bytes_per_second": 0.5})"),
            "pools[0].write_bytes_per_second: expected a number from 1.0 to 1e+18, found 0.5"},
        Bad{with_pools(R"({"device": "cpu", "scope": "global", "burst_bytes": 0})"),
            "pools[0].burst_bytes: expected an integer of at least 1, found 0"},
        Bad{with_pools(R"({"device": "cpu", "scope": "global", "burst_bytes": 1073741825})"),
            "pools[0].burst_bytes: expected an integer of at most 1073741824, found 1073741825"},
        Bad{with_pools(R"({"device": "cpu", "scope": "global", "latency_seconds": -1e-6})"),
            "pools[0].latency_seconds: expected a number from 0.0 to 3600.0, found -1e-06"},
        Bad{with_pools(R"({"device": "cpu", "scope": "global", "limit": 1})"),
            std::string("pools[0].limit: unknown member; expected one of ") + kNamesOfPool},
        Bad{with_pools(R"({"device": "npu", "scope": "global", "reached_by": "cpu"})"),
            "pools[0].reached_by: expected an array, found \"cpu\""},
        Bad{with_pools(R"({"device": "npu", "scope": "global", "reached_by": ["cpu", "dsp"]})"),
            "pools[0].reached_by[1]: unknown device \"dsp\"; expected one of cpu, npu, gpu"},
        Bad{with_pools(R"({"device": "gpu", "scope": "global", "reached_by": ["cpu"]})"),
            "pools[0].reached_by[0]: a device of kind cpu cannot access memory of a device of kind "
            "opencl"},
        Bad{with_pools(R"({"device": "cpu", "scope": "global", "reached_by": ["gpu"]})"),
            "pools[0].reached_by[0]: a device of kind opencl cannot access scope \"global\" of a "
            "CPU; "
            "describe a further pool"},
        Bad{with_pools(R"({"device": "cpu", "scope": "global.workspace", "reached_by": ["gpu"]})"),
            "pools[0].reached_by[0]: a device of kind opencl cannot access scope "
            "\"global.workspace\" of a CPU; describe a further pool"},
        Bad{with_pools(
                R"({"device": "cpu", "scope": "global.a", "kind": "heap", "reached_by": ["gpu"]})"),
            "pools[0].reached_by[0]: only a pool of kind \"arena\" can be reached by devices of "
            "several kinds"},
        Bad{with_pools(
                R"({"device": "cpu", "scope": "global.a", "reached_by": ["gpu"], "pinned_for": "gpu"})"),
            "pools[0].pinned_for: the pool is reached by a device that is not a CPU"},
        Bad{R"({"devices": [{"name": "cpu", "kind": "cpu"}, {"name": "gpu", "kind": "opencl"},
                            {"name": "far", "kind": "opencl"}],
                "pools": [{"device": "cpu", "scope": "global.a", "reached_by": ["gpu", "far"]}]})",
            "pools[0].reached_by[1]: the pool is already reached by \"gpu\"; expected at most one "
            "device that is not a CPU"},
        Bad{with_pools(R"({"device": "npu", "scope": "global", "reached_by": ["cpu"]},
                          {"device": "npu", "scope": "global.workspace"})"),
            "pools: \"global\" and \"global.workspace\" of device \"npu\" must have the same "
            "\"reached_by\""},
        Bad{with_pools(R"({"device": "cpu", "scope": "global.a", "pinned_for": "npu"})"),
            "pools[0].pinned_for: expected a non-CPU device, whose driver pins the memory"},
        Bad{with_pools(R"({"device": "gpu", "scope": "global.a", "pinned_for": "gpu"})"),
            "pools[0].pinned_for: only memory of a CPU can be pinned"},
        Bad{with_pools(R"({"device": "cpu", "scope": "global.constant", "pinned_for": "gpu"})"),
            "pools[0].pinned_for: only a pool of kind \"arena\" can be pinned"},
        Bad{with_pools(R"({"device": "cpu", "scope": "global", "pinned_for": "gpu"})"),
            "pools[0].pinned_for: only a pool of kind \"arena\" can be pinned"},
        Bad{with_pools(R"({"device": "cpu", "scope": "global.a", "pinned_for": true})"),
            "pools[0].pinned_for: expected a string, found true"},
        Bad{with_pools(R"([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19])"),
            "pools[0]: expected an object, found array"}));

// For invalid JSON, the message contains the position of the error.
TEST(Machine, InvalidJson) {
  for (const char* text : {"", "{", "{\"devices\": [}", "devices: []", "{} {}", "\xff", "nul"}) {
    const Result<Machine> machine = testing::parse(text);
    ASSERT_FALSE(machine.ok()) << text;
    EXPECT_THAT(machine.status().message(), HasSubstr("m.json: parse error at line 1, column "))
        << text;
  }
}

// A module has at most 256 devices and 4096 pools.
TEST(Machine, LongListsAreErrors) {
  const auto listed = [](size_t count, const std::string& element) {
    std::string text = element;
    for (size_t i = 1; i < count; ++i) text += ", " + element;
    return text;
  };
  const Result<Machine> devices = testing::parse("{\"devices\": [" + listed(257, "{}") + "]}");
  ASSERT_FALSE(devices.ok());
  EXPECT_EQ(devices.status().message(),
            "m.json: devices: expected at most 256 elements, found 257");
  const Result<Machine> pools = testing::parse(with_pools(listed(4097, "{}")));
  ASSERT_FALSE(pools.ok());
  EXPECT_EQ(pools.status().message(), "m.json: pools: expected at most 4096 elements, found 4097");
}

// Numbers outside the range of double, names that are not UTF-8, and deep nesting are errors.
TEST(Machine, InvalidNumbersNamesAndNestingAreErrors) {
  const Result<Machine> number = testing::parse(
      with_pools(R"({"device": "cpu", "scope": "global", "bytes_per_second": 1e999})"));
  ASSERT_FALSE(number.ok());
  EXPECT_EQ(number.status().message(), "m.json: number overflow parsing '1e999'");
  EXPECT_FALSE(testing::parse(with_device("{\"name\": \"\xc3\x28\", \"kind\": \"cpu\"}")).ok());
  EXPECT_FALSE(testing::parse(std::string(100'000, '[')).ok());
}

}  // namespace
}  // namespace scopevm::compiler
