// What one core of this machine can do at most, measured: the bounds that benchmarks print.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scopevm::bench {

// Multiply-adds of f32 on registers only. `peak_flops` operations (two per multiply-add) are done
// in `rounds`.
void run_peak(int64_t rounds);
double peak_flops(int64_t rounds);
// Reading `bytes` of memory once through, in GB/s; the best of a few passes.
double read_gbps(size_t bytes);

}  // namespace scopevm::bench
