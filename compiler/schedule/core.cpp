// The constants of each target. A row with CPUs of another kind, or with other constants, is all
// that a new target needs.
//
// The rates of convolutions are shares of the peak that bench/kernels/conv_layers.cpp and
// bench/kernels/conv_sweep.cpp print; only their ratios matter for the choice of layouts. Ports and
// latencies are those of LLVM's scheduling models, which bench/microkernels.py compares with the
// code of the micro-kernels.
#include "compiler/schedule/core.h"

namespace scopevm::compiler::schedule {
namespace {

// CPUs that execute one multiply-add of 512 bits per cycle.
constexpr std::string_view kOnePort[] = {"znver4", "cannonlake", "icelake-client", "tigerlake",
                                         "rocketlake"};

// Intel's CPUs that execute two: 168 to 193 GFLOP/s with one busy core.
constexpr std::string_view kIntelTwoPorts[] = {"skylake-avx512", "cascadelake",    "cooperlake",
                                               "icelake-server", "sapphirerapids", "emeraldrapids",
                                               "graniterapids"};

constexpr Core kCores[] = {
    {.name = "AVX-512, one FMA port", .vector_bits = 512, .cpus = kOnePort, .fma_ports = 1},
    {.name = "AVX-512, two FMA ports of Intel",
     .vector_bits = 512,
     .cpus = kIntelTwoPorts,
     .clock = 3e9},
    {.name = "AVX-512, two FMA ports", .vector_bits = 512, .clock = 3e9},
    {.name = "AVX2", .vector_bits = 256},
    {.name = "baseline", .vector_bits = 128},
};

bool has_cpu(const Core& core, std::string_view name) {
  for (std::string_view cpu : core.cpus)
    if (cpu == name) return true;
  return core.cpus.empty();
}

}  // namespace

std::span<const Core> cores() { return kCores; }

const Core& core_of(const Target& target) {
  for (const Core& core : kCores)
    if (core.vector_bits == target.vector_bits && has_cpu(core, target.name)) return core;
  return default_core();
}

const Core& default_core() { return core_of(Target()); }

}  // namespace scopevm::compiler::schedule
