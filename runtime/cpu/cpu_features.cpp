// Queries CPU features with the cpuid instruction, because reading /proc/cpuinfo takes milliseconds
// on machines with many cores. cpu_features.def lists the features.
#include "runtime/cpu/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdint>

namespace scopevm::runtime {

#if defined(__x86_64__)
namespace {

enum Register : uint8_t { kEax, kEbx, kEcx, kEdx };

// Bits of XCR0: the register states that the operating system must save for a feature.
constexpr uint32_t kNoState = 0;
constexpr uint32_t kAvxState = 0x6;
constexpr uint32_t kAvx512State = 0xe6;

struct Feature {
  std::string_view name;
  uint32_t leaf;
  uint32_t subleaf;
  Register where;
  uint8_t bit;
  uint32_t state;
};

constexpr Feature kFeatures[] = {
#define SCOPEVM_CPU_FEATURE(llvm, name, leaf, subleaf, where, bit, state) \
  {name, leaf, subleaf, where, bit, state},
#include "runtime/cpu/cpu_features.def"
#undef SCOPEVM_CPU_FEATURE
};

// Returns XCR0, the register states that the operating system saves; 0 if it saves none.
uint32_t saved_state() {
  uint32_t regs[4] = {};
  constexpr uint32_t kOsxsave = 1U << 27;
  if (__get_cpuid(1, &regs[kEax], &regs[kEbx], &regs[kEcx], &regs[kEdx]) == 0) return 0;
  // Without OSXSAVE, xgetbv is an invalid instruction.
  if ((regs[kEcx] & kOsxsave) == 0) return 0;
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

}  // namespace

bool cpu_has(std::string_view feature) {
  for (const Feature& known : kFeatures) {
    if (known.name != feature) continue;
    uint32_t regs[4] = {};
    if (__get_cpuid_count(known.leaf, known.subleaf, &regs[kEax], &regs[kEbx], &regs[kEcx],
                          &regs[kEdx]) == 0)
      return false;
    if (((regs[known.where] >> known.bit) & 1) == 0) return false;
    // A CPU feature is unusable if the operating system does not save its registers.
    return known.state == kNoState || (saved_state() & known.state) == known.state;
  }
  return false;
}
#else
bool cpu_has(std::string_view) { return false; }
#endif

std::vector<std::string> missing_cpu_features(std::span<const std::string> features) {
  std::vector<std::string> missing;
  for (const std::string& feature : features)
    if (!cpu_has(feature)) missing.push_back(feature);
  return missing;
}

}  // namespace scopevm::runtime
