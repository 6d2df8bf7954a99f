// Implements machine_peak.h with register-only multiply-adds and streaming reads.
#include "tools/machine_peak/machine_peak.h"

#include <immintrin.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

namespace scopevm::machine_peak {
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
    for (size_t s = 0; s < 8; ++s) {
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

// The shortest time, in seconds, that all threads need for `work`, of several rounds.
template <typename Work>
double seconds(int threads, const Work& work) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRounds = 5;
  std::barrier together(threads);
  double best = std::numeric_limits<double>::infinity();
  const auto measure = [&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      together.arrive_and_wait();
      const Clock::time_point start = Clock::now();
      work(thread);
      together.arrive_and_wait();
      if (thread == 0)
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
  };
  {
    std::vector<std::jthread> others;
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(measure, thread);
    measure(0);
  }
  return best;
}

}  // namespace

bool has_peak() {
  return __builtin_cpu_supports("avx512f") ||
         (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
}

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

Limits measure_limits(int threads) {
  constexpr int64_t kRounds = 1'000'000;
  constexpr size_t kFloats = size_t{64} << 20;
  Limits limits;
  if (has_peak())
    limits.flops_per_second =
        threads * peak_flops(kRounds) / seconds(threads, [](int) { run_peak(kRounds); });
  const std::vector<float> data(kFloats, 1.0F);
  // read_floats() reads multiples of 128.
  const size_t part = kFloats / static_cast<size_t>(threads) / 128 * 128;
  const double time = seconds(threads, [&](int thread) {
    read_floats(data.data() + static_cast<size_t>(thread) * part, part);
  });
  limits.read_bytes_per_second = static_cast<double>(part * sizeof(float)) * threads / time;
  return limits;
}

}  // namespace scopevm::machine_peak
