// Measured peak arithmetic and read bandwidth: the bounds that benchmarks print.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scopevm::machine_peak {

// Whether this CPU has the multiply-adds of run_peak().
bool has_peak();

// Executes f32 multiply-adds on registers only: peak_flops(rounds) operations, two per
// multiply-add.
void run_peak(int64_t rounds);
double peak_flops(int64_t rounds);
// Reads `floats` numbers once, except fewer than 128 at the end. Its speed is the bandwidth with
// which kernels are compared.
void read_floats(const float* data, size_t floats);

// What `threads` threads reach together; 0: not measured.
struct Limits {
  double flops_per_second = 0;       // of f32 multiply-adds, each of which counts as two
  double read_bytes_per_second = 0;  // of memory that is not in a cache
};
// Takes about half a second, and 256 MiB of memory.
Limits measure_limits(int threads);

}  // namespace scopevm::machine_peak
