// Measured peak arithmetic and read bandwidth of one core: the bounds that benchmarks print.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scopevm::compiler::bench {

// Executes f32 multiply-adds on registers only: peak_flops(rounds) operations, two per
// multiply-add.
void run_peak(int64_t rounds);
double peak_flops(int64_t rounds);
// Reads `floats` numbers once, except fewer than 128 at the end. Its speed is the bandwidth with
// which kernels are compared.
void read_floats(const float* data, size_t floats);

}  // namespace scopevm::compiler::bench
