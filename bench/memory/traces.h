// Traces: sequences of allocations and deallocations for benchmarks of allocators. Each trace is a
// function of its arguments: the same seed gives the same trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace scopevm::bench {

// One operation. A slot holds at most one block.
struct TraceOp {
  static constexpr int64_t kDeallocate = -1;
  uint32_t slot;
  int64_t bytes;  // of the block to allocate, or kDeallocate
};

// All slots are empty at the end, so that a trace can be repeated.
struct Trace {
  std::vector<TraceOp> ops;
  uint32_t slots = 0;
  int64_t peak_bytes = 0;  // maximum of the live bytes
  int64_t pairs = 0;       // number of blocks
};

// Fills a random slot of `slots`, whose block is deallocated first. Sizes are log-uniform in
// [low, high].
Trace random_sizes(int64_t low, int64_t high, uint32_t slots, int pairs, uint64_t seed);
// Requests of a network with residual blocks; every request has the same shapes.
Trace inference(int requests, uint64_t seed);
// Like inference(), with a random length of the input in [32, 512] per request.
Trace inference_varying(int requests, uint64_t seed);
// Training steps: the backward pass deallocates activations in reverse order.
Trace training(int steps, uint64_t seed);
// LLM serving: sequences arrive and end; their KV caches grow by reallocation to 1.25 times.
Trace llm_serving(int steps, uint64_t seed);
// Requests in batches of a random size in [1, 32].
Trace dynamic_batching(int batches, uint64_t seed);
// Against slabs: fills slabs of one size, keeps one block of each, and continues with another size.
Trace sparse_slabs(int sizes, uint64_t seed);
// Against best fit: frees every other block and allocates blocks that are larger by one page.
Trace growing_holes(int rounds, uint64_t seed);
// Against powers of two: sizes one byte above a power of two.
Trace above_powers(int pairs, uint64_t seed);
// One large request, then many small ones.
Trace large_then_small(int pairs, uint64_t seed);

// The traces by name, at the sizes of the benchmark. An unknown name gives an empty trace.
std::vector<std::string> trace_names();
Trace make_trace(std::string_view name);

}  // namespace scopevm::bench
