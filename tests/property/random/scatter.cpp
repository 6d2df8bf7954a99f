#include "tests/property/random/scatter.h"

#include <functional>
#include <iterator>
#include <random>

namespace scopevm::compiler::property {
namespace {

// The host and two more devices. "dsp" reaches its own memory and the pool "global" of "npu", whose
// kernels are compiled for another CPU.
constexpr char kMachine[] = R"({
  "devices": [{"name": "cpu", "kind": "cpu"}, {"name": "npu", "kind": "cpu", "alignment": 256,
               "target_cpu": "x86-64-v2"},
              {"name": "dsp", "kind": "cpu"}],
  "pools": [{"device": "npu", "scope": "global", "reached_by": ["dsp"]},
            {"device": "npu", "scope": "global.fast", "bytes_per_second": 1e12}]
})";

// "gpu" shares pools with both CPUs.
constexpr char kMachineWithGpu[] = R"({
  "devices": [{"name": "cpu", "kind": "cpu"}, {"name": "npu", "kind": "cpu"},
              {"name": "gpu", "kind": "opencl"}],
  "pools": [{"device": "cpu", "scope": "global.shared", "reached_by": ["gpu"]},
            {"device": "npu", "scope": "global.fast", "reached_by": ["gpu", "cpu"], "bytes_per_second": 1e12}]
})";

// A device of each rank.
constexpr char kMachineWithRanks[] = R"({
  "devices": [{"name": "cpu", "kind": "cpu"},
              {"name": "npu", "kind": "cpu", "rank": 1, "alignment": 256},
              {"name": "dsp", "kind": "cpu", "rank": 2, "max_stack_bytes": 512}],
  "pools": [{"device": "npu", "scope": "global.fast", "bytes_per_second": 1e12}],
  "links": [{"ranks": [1, 2], "bytes_per_second": 1e12, "latency_seconds": 1e-6}]
})";

}  // namespace

Scatter scatter(const std::string& text, Devices devices) {
  std::mt19937_64 random(std::hash<std::string>()(text));
  auto one_of = [&](auto... choices) {
    const std::string all[] = {choices...};
    return all[random() % std::size(all)];
  };
  const bool has_gpu = devices == Devices::kGpu;
  Scatter scatter{has_gpu                      ? kMachineWithGpu
                  : devices == Devices::kRanks ? kMachineWithRanks
                                               : kMachine,
                  {}};
  for (const char* kind :
       {"type:[a-c]*", "type:[d-l]*", "type:m*", "type:[n-r]*", "type:r*", "type:s*", "type:[t-z]*",
        "input:*[02468]", "input:*[1357]", "output:*0"})
    if (random() % 3 != 0)
      scatter.places.push_back(std::string(kind) + "=" +
                               (has_gpu ? one_of("cpu", "gpu", "gpu.global.fast", "gpu",
                                                 "npu.global.fast", "cpu.global.shared")
                                        : one_of("cpu", "npu", "npu.global.fast", "dsp")));
  return scatter;
}

RandomSplit random_split(const std::string& text) {
  constexpr std::pair<const char*, int> kSplits[] = {
      {"tensor=2", 2}, {"tensor=3", 3}, {"tensor=2,pipeline=2", 4}, {"tensor=4", 4}};
  const auto& [split, ranks] = kSplits[std::hash<std::string>()(text) / 7 % std::size(kSplits)];
  std::string devices, links;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string number = std::to_string(rank);
    devices += std::string(rank > 0 ? ", " : "") + R"({"name": "cpu)" + number +
               R"(", "kind": "cpu", "rank": )" + number + "}";
    for (int other = 0; other < rank; ++other)
      links += std::string(links.empty() ? "" : ", ") + R"({"ranks": [)" + std::to_string(other) +
               ", " + number + R"(], "bytes_per_second": 1e15, "latency_seconds": 1e-12})";
  }
  return {R"({"devices": [)" + devices + R"(], "links": [)" + links + "]}", split};
}

}  // namespace scopevm::compiler::property
