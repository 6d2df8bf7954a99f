// Queries CPU features with the cpuid instruction, because reading /proc/cpuinfo takes milliseconds
// on machines with many cores. The leaves and bits are documented in Intel's Software Developer's
// Manual, volume 2A, CPUID (sse4a: AMD64 Architecture Programmer's Manual, volume 3).
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
constexpr uint32_t kAmxState = 0x60000;

struct Feature {
  std::string_view name;
  uint32_t leaf;
  uint32_t subleaf;
  Register where;
  uint8_t bit;
  uint32_t state;
};

constexpr Feature kFeatures[] = {
    {"cx8", 1, 0, kEdx, 8, kNoState},
    {"cmov", 1, 0, kEdx, 15, kNoState},
    {"mmx", 1, 0, kEdx, 23, kNoState},
    {"fxsr", 1, 0, kEdx, 24, kNoState},
    {"sse", 1, 0, kEdx, 25, kNoState},
    {"sse2", 1, 0, kEdx, 26, kNoState},
    {"pni", 1, 0, kEcx, 0, kNoState},
    {"pclmulqdq", 1, 0, kEcx, 1, kNoState},
    {"ssse3", 1, 0, kEcx, 9, kNoState},
    {"fma", 1, 0, kEcx, 12, kAvxState},
    {"cx16", 1, 0, kEcx, 13, kNoState},
    {"sse4_1", 1, 0, kEcx, 19, kNoState},
    {"sse4_2", 1, 0, kEcx, 20, kNoState},
    {"movbe", 1, 0, kEcx, 22, kNoState},
    {"popcnt", 1, 0, kEcx, 23, kNoState},
    {"aes", 1, 0, kEcx, 25, kNoState},
    {"xsave", 1, 0, kEcx, 26, kNoState},
    {"avx", 1, 0, kEcx, 28, kAvxState},
    {"f16c", 1, 0, kEcx, 29, kAvxState},
    {"rdrand", 1, 0, kEcx, 30, kNoState},
    {"fsgsbase", 7, 0, kEbx, 0, kNoState},
    {"bmi1", 7, 0, kEbx, 3, kNoState},
    {"avx2", 7, 0, kEbx, 5, kAvxState},
    {"bmi2", 7, 0, kEbx, 8, kNoState},
    {"avx512f", 7, 0, kEbx, 16, kAvx512State},
    {"avx512dq", 7, 0, kEbx, 17, kAvx512State},
    {"rdseed", 7, 0, kEbx, 18, kNoState},
    {"adx", 7, 0, kEbx, 19, kNoState},
    {"avx512ifma", 7, 0, kEbx, 21, kAvx512State},
    {"clflushopt", 7, 0, kEbx, 23, kNoState},
    {"clwb", 7, 0, kEbx, 24, kNoState},
    {"avx512cd", 7, 0, kEbx, 28, kAvx512State},
    {"sha_ni", 7, 0, kEbx, 29, kNoState},
    {"avx512bw", 7, 0, kEbx, 30, kAvx512State},
    {"avx512vl", 7, 0, kEbx, 31, kAvx512State},
    {"avx512vbmi", 7, 0, kEcx, 1, kAvx512State},
    {"avx512_vbmi2", 7, 0, kEcx, 6, kAvx512State},
    {"gfni", 7, 0, kEcx, 8, kNoState},
    {"vaes", 7, 0, kEcx, 9, kAvxState},
    {"vpclmulqdq", 7, 0, kEcx, 10, kAvxState},
    {"avx512_vnni", 7, 0, kEcx, 11, kAvx512State},
    {"avx512_bitalg", 7, 0, kEcx, 12, kAvx512State},
    {"avx512_vpopcntdq", 7, 0, kEcx, 14, kAvx512State},
    {"amx_bf16", 7, 0, kEdx, 22, kAmxState},
    {"avx512_fp16", 7, 0, kEdx, 23, kAvx512State},
    {"amx_tile", 7, 0, kEdx, 24, kAmxState},
    {"amx_int8", 7, 0, kEdx, 25, kAmxState},
    {"avx_vnni", 7, 1, kEax, 4, kAvxState},
    {"avx512_bf16", 7, 1, kEax, 5, kAvx512State},
    {"xsaveopt", 13, 1, kEax, 0, kNoState},
    {"xsavec", 13, 1, kEax, 1, kNoState},
    {"lahf_lm", 0x80000001, 0, kEcx, 0, kNoState},
    {"abm", 0x80000001, 0, kEcx, 5, kNoState},
    {"sse4a", 0x80000001, 0, kEcx, 6, kNoState},
    {"3dnowprefetch", 0x80000001, 0, kEcx, 8, kNoState},
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
