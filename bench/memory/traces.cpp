// Generators of traces; see traces.h.
#include "bench/memory/traces.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>

namespace scopevm::bench {
namespace {

// Builds a trace and keeps track of the live blocks.
class Builder {
 public:
  // Allocates a block and returns its slot.
  uint32_t allocate(int64_t bytes) {
    uint32_t slot = 0;
    if (unused_.empty()) {
      slot = trace_.slots++;
      sizes_.push_back(-1);
    } else {
      slot = unused_.back();
      unused_.pop_back();
    }
    sizes_[slot] = bytes;
    trace_.ops.push_back({slot, bytes});
    ++trace_.pairs;
    live_ += bytes;
    trace_.peak_bytes = std::max(trace_.peak_bytes, live_);
    return slot;
  }
  void deallocate(uint32_t slot) {
    live_ -= std::exchange(sizes_[slot], -1);
    trace_.ops.push_back({slot, TraceOp::kDeallocate});
    unused_.push_back(slot);
  }
  int64_t size(uint32_t slot) const { return sizes_[slot]; }
  Trace finish() {
    for (uint32_t slot = 0; slot < trace_.slots; ++slot)
      if (sizes_[slot] >= 0) deallocate(slot);
    return std::move(trace_);
  }

 private:
  Trace trace_;
  std::vector<int64_t> sizes_;  // by slot; negative: empty
  std::vector<uint32_t> unused_;
  int64_t live_ = 0;
};

using Random = std::mt19937_64;

int64_t log_uniform(Random& random, int64_t low, int64_t high) {
  std::uniform_real_distribution<double> exponent(std::log2(static_cast<double>(low)),
                                                  std::log2(static_cast<double>(high)));
  return static_cast<int64_t>(std::exp2(exponent(random)));
}

int64_t uniform(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

// A request of a network of 24 residual blocks at `positions` positions: channels double and
// positions halve every six blocks. Each block has three temporaries and a shape tensor.
void network(Builder& builder, int64_t positions) {
  uint32_t input = builder.allocate(positions * 64 * 4);
  for (int block = 0; block < 24; ++block) {
    const int64_t channels = int64_t{64} << (block / 6);
    const int64_t rows = std::max<int64_t>(1, positions >> (block / 6));
    const uint32_t dims = builder.allocate(64);
    const uint32_t wide = builder.allocate(rows * channels * 4 * 4);
    const uint32_t scratch = builder.allocate(rows * 9 * channels);
    const uint32_t narrow = builder.allocate(rows * channels * 4);
    builder.deallocate(scratch);
    builder.deallocate(wide);
    const uint32_t sum = builder.allocate(rows * channels * 4);
    builder.deallocate(narrow);
    builder.deallocate(input);
    builder.deallocate(dims);
    input = sum;
  }
  const uint32_t result = builder.allocate(4000);
  builder.deallocate(input);
  builder.deallocate(result);
}

}  // namespace

Trace random_sizes(int64_t low, int64_t high, uint32_t slots, int pairs, uint64_t seed) {
  Random random(seed);
  Builder builder;
  std::vector<uint32_t> live;
  for (int i = 0; i < pairs; ++i) {
    const auto index = static_cast<size_t>(uniform(random, 0, slots - 1));
    if (index < live.size()) {
      builder.deallocate(live[index]);
      live[index] = builder.allocate(log_uniform(random, low, high));
    } else {
      live.push_back(builder.allocate(log_uniform(random, low, high)));
    }
  }
  return builder.finish();
}

Trace inference(int requests, uint64_t /*seed*/) {
  Builder builder;
  for (int i = 0; i < requests; ++i) network(builder, 12544);
  return builder.finish();
}

Trace inference_varying(int requests, uint64_t seed) {
  Random random(seed);
  Builder builder;
  for (int i = 0; i < requests; ++i) network(builder, uniform(random, 32, 512) * 64);
  return builder.finish();
}

Trace training(int steps, uint64_t seed) {
  Random random(seed);
  Builder builder;
  std::vector<uint32_t> weights;
  for (int i = 0; i < 48; ++i)
    weights.push_back(builder.allocate(log_uniform(random, 256, 4 << 20)));
  for (int step = 0; step < steps; ++step) {
    std::vector<uint32_t> activations;
    for (int layer = 0; layer < 48; ++layer) {
      const uint32_t scratch = builder.allocate(int64_t{50000} * (1 + layer % 7));
      activations.push_back(builder.allocate(int64_t{40000} * (1 + layer % 5)));
      activations.push_back(builder.allocate(256 + 64 * layer));
      builder.deallocate(scratch);
    }
    uint32_t gradient = builder.allocate(40000);
    for (int layer = 47; layer >= 0; --layer) {
      const uint32_t update = builder.allocate(builder.size(weights[static_cast<size_t>(layer)]));
      const uint32_t next = builder.allocate(int64_t{40000} * (1 + layer % 5));
      builder.deallocate(update);
      builder.deallocate(gradient);
      gradient = next;
      for (int i = 0; i < 2; ++i) {
        builder.deallocate(activations.back());
        activations.pop_back();
      }
    }
    builder.deallocate(gradient);
  }
  return builder.finish();
}

Trace llm_serving(int steps, uint64_t seed) {
  constexpr int64_t kBytesPerToken = 4096;
  constexpr size_t kSequences = 32;
  struct Sequence {
    int64_t tokens;
    int64_t end;
    int64_t capacity;
    uint32_t cache;
  };
  Random random(seed);
  Builder builder;
  std::vector<Sequence> sequences;
  for (int step = 0; step < steps; ++step) {
    if (sequences.size() < kSequences && uniform(random, 0, 3) == 0) {
      const int64_t prompt = log_uniform(random, 16, 2048);
      sequences.push_back({prompt, prompt + log_uniform(random, 8, 512), prompt + prompt / 4,
                           builder.allocate((prompt + prompt / 4) * kBytesPerToken)});
    }
    const auto count = static_cast<int64_t>(sequences.size());
    const uint32_t hidden = builder.allocate(count * 4096);
    const uint32_t scores = builder.allocate(count * 16384);
    for (Sequence& sequence : sequences)
      if (++sequence.tokens > sequence.capacity) {
        sequence.capacity += std::max<int64_t>(16, sequence.capacity / 4);
        const uint32_t larger = builder.allocate(sequence.capacity * kBytesPerToken);
        builder.deallocate(std::exchange(sequence.cache, larger));
      }
    builder.deallocate(scores);
    builder.deallocate(hidden);
    std::erase_if(sequences, [&](const Sequence& sequence) {
      if (sequence.tokens < sequence.end) return false;
      builder.deallocate(sequence.cache);
      return true;
    });
  }
  return builder.finish();
}

Trace dynamic_batching(int batches, uint64_t seed) {
  Random random(seed);
  Builder builder;
  for (int i = 0; i < batches; ++i) {
    const int64_t batch = uniform(random, 1, 32);
    std::vector<uint32_t> results;
    for (int64_t request = 0; request < batch; ++request) results.push_back(builder.allocate(4000));
    network(builder, batch * 784);
    for (const uint32_t result : results) builder.deallocate(result);
  }
  return builder.finish();
}

Trace sparse_slabs(int sizes, uint64_t seed) {
  Random random(seed);
  Builder builder;
  for (int i = 0; i < sizes; ++i) {
    const int64_t bytes = 64 * uniform(random, 1, 64);
    std::vector<uint32_t> blocks;
    for (int64_t total = 0; total < 2 << 20; total += bytes)
      blocks.push_back(builder.allocate(bytes));
    for (size_t b = 0; b < blocks.size(); ++b)
      if (b % 64 != 0) builder.deallocate(blocks[b]);
  }
  return builder.finish();
}

Trace growing_holes(int rounds, uint64_t /*seed*/) {
  Builder builder;
  std::vector<uint32_t> blocks;
  for (int round = 0; round < rounds; ++round) {
    const int64_t bytes = 65536 + round * 4096;
    for (size_t b = 0; b < blocks.size(); b += 2) builder.deallocate(blocks[b]);
    std::vector<uint32_t> kept;
    for (size_t b = 1; b < blocks.size(); b += 2) kept.push_back(blocks[b]);
    for (int i = 0; i < 128; ++i) kept.push_back(builder.allocate(bytes));
    blocks = std::move(kept);
  }
  return builder.finish();
}

Trace above_powers(int pairs, uint64_t seed) {
  Random random(seed);
  Builder builder;
  std::vector<uint32_t> live;
  for (int i = 0; i < pairs; ++i) {
    live.push_back(builder.allocate((int64_t{1} << uniform(random, 10, 22)) + 1));
    if (live.size() < 64) continue;
    const auto index = static_cast<size_t>(uniform(random, 0, 63));
    builder.deallocate(live[index]);
    live.erase(live.begin() + static_cast<std::ptrdiff_t>(index));
  }
  return builder.finish();
}

Trace large_then_small(int pairs, uint64_t seed) {
  Random random(seed);
  Builder builder;
  builder.deallocate(builder.allocate(int64_t{512} << 20));
  for (int i = 0; i < pairs; ++i)
    builder.deallocate(builder.allocate(log_uniform(random, 64, 65536)));
  return builder.finish();
}

namespace {

struct NamedTrace {
  std::string_view name;
  std::function<Trace()> make;
};

const std::vector<NamedTrace>& traces() {
  static const auto* const kTraces = new std::vector<NamedTrace>{
      {"small", [] { return random_sizes(64, 4096, 1000, 1000000, 1); }},
      {"mixed", [] { return random_sizes(64, 64 << 20, 200, 4000, 2); }},
      {"mixed_long", [] { return random_sizes(64, 64 << 20, 200, 40000, 2); }},
      {"inference", [] { return inference(100, 3); }},
      {"inference_varying", [] { return inference_varying(100, 4); }},
      {"training", [] { return training(50, 5); }},
      {"llm_serving", [] { return llm_serving(10000, 6); }},
      {"dynamic_batching", [] { return dynamic_batching(100, 7); }},
      {"sparse_slabs", [] { return sparse_slabs(32, 8); }},
      {"growing_holes", [] { return growing_holes(50, 9); }},
      {"above_powers", [] { return above_powers(10000, 10); }},
      {"large_then_small", [] { return large_then_small(100000, 11); }},
  };
  return *kTraces;
}

}  // namespace

std::vector<std::string> trace_names() {
  std::vector<std::string> names;
  for (const NamedTrace& trace : traces()) names.emplace_back(trace.name);
  return names;
}

Trace make_trace(std::string_view name) {
  const auto trace = std::ranges::find(traces(), name, &NamedTrace::name);
  return trace == traces().end() ? Trace{} : trace->make();
}

}  // namespace scopevm::bench
