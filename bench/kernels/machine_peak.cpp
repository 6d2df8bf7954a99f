// Implements machine_peak.h with register-only multiply-adds and streaming reads.
#include "bench/kernels/machine_peak.h"

#include <immintrin.h>

namespace scopevm::compiler::bench {
namespace {

// Independent sums hide the latency of multiply-adds. The micro-kernels have as many.
constexpr int kSums = 24;

__attribute__((target("avx512f"))) float multiply_add_512(int64_t rounds) {
  __m512 sums[kSums];
  __m512 a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(0.25f);
  for (auto& sum : sums) sum = _mm512_set1_ps(1.0f);
  for (int64_t i = 0; i < rounds; ++i) {
#pragma clang loop unroll(full)
    for (int s = 0; s < kSums; ++s) sums[s] = _mm512_fmadd_ps(sums[s], a, b);
  }
  float total = 0;
  for (auto& sum : sums) total += _mm512_reduce_add_ps(sum);
  return total;
}

__attribute__((target("avx2,fma"))) float multiply_add_256(int64_t rounds) {
  __m256 sums[kSums / 2];
  __m256 a = _mm256_set1_ps(0.5f), b = _mm256_set1_ps(0.25f);
  for (auto& sum : sums) sum = _mm256_set1_ps(1.0f);
  for (int64_t i = 0; i < rounds; ++i) {
#pragma clang loop unroll(full)
    for (int s = 0; s < kSums / 2; ++s) sums[s] = _mm256_fmadd_ps(sums[s], a, b);
  }
  float total = 0;
  for (auto& sum : sums) total += _mm256_cvtss_f32(sum);
  return total;
}

__attribute__((target("avx512f"))) float read_512(const float* data, size_t floats) {
  __m512 sums[8];
  for (auto& sum : sums) sum = _mm512_setzero_ps();
  for (size_t i = 0; i + 128 <= floats; i += 128) {
#pragma clang loop unroll(full)
    for (int s = 0; s < 8; ++s) {
      _mm_prefetch(reinterpret_cast<const char*>(data + i + s * 16 + 1024), _MM_HINT_T0);
      sums[s] = _mm512_add_ps(sums[s], _mm512_loadu_ps(data + i + s * 16));
    }
  }
  float total = 0;
  for (auto& sum : sums) total += _mm512_reduce_add_ps(sum);
  return total;
}

float read_plain(const float* data, size_t floats) {
  float sums[16] = {};
  for (size_t i = 0; i + 16 <= floats; i += 16)
    for (int s = 0; s < 16; ++s) sums[s] += data[i + s];
  return sums[0] + sums[7];
}

// Stores the results, so that the compiler cannot remove the loops.
volatile float sink;

}  // namespace

void run_peak(int64_t rounds) {
  sink = __builtin_cpu_supports("avx512f") ? multiply_add_512(rounds) : multiply_add_256(rounds);
}

double peak_flops(int64_t rounds) {
  int floats = __builtin_cpu_supports("avx512f") ? kSums * 16 : kSums / 2 * 8;
  return 2.0 * static_cast<double>(rounds) * floats;
}

void read_floats(const float* data, size_t floats) {
  sink = __builtin_cpu_supports("avx512f") ? read_512(data, floats) : read_plain(data, floats);
}

}  // namespace scopevm::compiler::bench
