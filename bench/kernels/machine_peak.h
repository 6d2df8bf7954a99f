// What one core of this machine can do at most, measured: the bounds that benchmarks print.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scopevm::compiler::bench {

// Multiply-adds of f32 on registers only. `peak_flops` operations (two per multiply-add) are done
// in `rounds`.
void run_peak(int64_t rounds);
double peak_flops(int64_t rounds);
// Reads `floats` numbers once through, with prefetches: what memory allows at most.
void read_floats(const float* data, size_t floats);

}  // namespace scopevm::compiler::bench
