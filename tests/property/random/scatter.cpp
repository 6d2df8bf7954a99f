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

}  // namespace

Scatter scatter(const std::string& text, bool has_gpu) {
  std::mt19937_64 random(std::hash<std::string>()(text));
  auto one_of = [&](auto... choices) {
    const std::string all[] = {choices...};
    return all[random() % std::size(all)];
  };
  Scatter scatter{has_gpu ? kMachineWithGpu : kMachine, {}};
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

}  // namespace scopevm::compiler::property
