#include "bench/memory/instances.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace scopevm::bench {
namespace {

class Builder {
 public:
  explicit Builder(uint64_t seed) : random_(seed) {}

  // Uniform in [low, high]. Not std::uniform_int_distribution, whose results depend on the library.
  int64_t number(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool one_in(int64_t count) { return number(1, count) == 1; }
  // Log-uniform from 1 KiB to 4 MiB, a multiple of 64.
  int64_t size() {
    const double exponent = static_cast<double>(number(0, 1 << 20)) / (1 << 20);
    return 64 * static_cast<int64_t>(std::exp(std::log(16.0) + exponent * std::log(4096.0)));
  }
  void add(int64_t lower, int64_t upper, int64_t size) {
    plan::Buffer buffer;
    buffer.id = std::to_string(problem_.buffers.size());
    buffer.lifespans = {{lower, upper}};
    buffer.size = size;
    problem_.buffers.push_back(std::move(buffer));
  }
  size_t count() const { return problem_.buffers.size(); }
  plan::Problem take(size_t buffers) {
    problem_.buffers.resize(std::min(buffers, count()));
    return std::move(problem_);
  }

 private:
  std::mt19937_64 random_;
  plan::Problem problem_;
};

}  // namespace

plan::Problem inference_instance(size_t buffers, uint64_t seed) {
  Builder builder(seed);
  for (int64_t step = 0; builder.count() < buffers; ++step) {
    const int64_t length = builder.one_in(100) ? builder.number(20, 200)
                           : builder.one_in(4) ? builder.number(3, 20)
                                               : 2;
    builder.add(step, step + length, builder.size());
    if (builder.one_in(3)) builder.add(step, step + 1, builder.size());
  }
  return builder.take(buffers);
}

plan::Problem shrinking_instance(size_t buffers, uint64_t seed) {
  Builder builder(seed);
  const auto count = static_cast<int64_t>(buffers);
  for (int64_t step = 0; step < count; ++step) {
    const int64_t least = 64 * (1 + 4000 * (count - step) / count);
    builder.add(step, step + (step % 3 == 0 ? 4 : 2), least * builder.number(1, 4));
  }
  return builder.take(buffers);
}

plan::Problem training_instance(size_t buffers, uint64_t seed) {
  Builder builder(seed);
  const auto layers = static_cast<int64_t>(buffers / 4 + 1);
  const int64_t end = 2 * layers;
  for (int64_t layer = 0; layer < layers; ++layer) {
    const int64_t backward = end - layer - 1;
    const int64_t size = builder.size();
    builder.add(layer, builder.one_in(5) ? layer + builder.number(2, 30) : backward + 1, size);
    builder.add(backward, backward + builder.number(1, 4), size);
    if (builder.one_in(2)) builder.add(backward, end, builder.size() / 4);
    builder.add(layer, layer + builder.number(1, 2), builder.size());
    builder.add(backward, backward + 1, builder.size());
  }
  return builder.take(buffers);
}

plan::Problem random_instance(size_t buffers, uint64_t seed) {
  Builder builder(seed);
  const auto count = static_cast<int64_t>(buffers);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t lower = builder.number(0, 2 * count);
    const double exponent = static_cast<double>(builder.number(0, 1 << 20)) / (1 << 20);
    const auto length = static_cast<int64_t>(std::pow(static_cast<double>(count), exponent));
    builder.add(lower, lower + 1 + length, builder.size());
  }
  return builder.take(buffers);
}

plan::Problem interleaved_instance(size_t buffers, uint64_t seed) {
  Builder builder(seed);
  for (int64_t step = 0; builder.count() < buffers; step += 2) {
    builder.add(step, step + builder.number(30, 60), 64 * builder.number(900, 1100));
    for (int64_t i = 0; i < 8; ++i)
      builder.add(step + i % 2, step + builder.number(2, 12), 64 * builder.number(1, 250));
  }
  return builder.take(buffers);
}

std::vector<Generator> generators() {
  return {{"inference", inference_instance},
          {"shrinking", shrinking_instance},
          {"training", training_instance},
          {"random", random_instance},
          {"interleaved", interleaved_instance}};
}

namespace {

bool overlap(const plan::Lifespan& a, const plan::Lifespan& b) {
  return a.lower < b.upper && b.lower < a.upper;
}

struct Placed {
  plan::Lifespan lifespan;
  int64_t offset;
  int64_t end;
};

// The lowest offset at which the buffer overlaps none of the placed ones, which ascend by offset.
int64_t lowest_free(const std::vector<Placed>& placed, const plan::Buffer& buffer) {
  int64_t offset = 0;
  for (const Placed& other : placed) {
    if (!overlap(other.lifespan, buffer.lifespans[0])) continue;
    if (offset + buffer.size <= other.offset) break;
    offset = std::max(offset, other.end);
  }
  return offset;
}

}  // namespace

int64_t greedy_by_size_height(const plan::Problem& problem) {
  std::vector<size_t> order(problem.buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return problem.buffers[a].size > problem.buffers[b].size;
  });
  std::vector<Placed> placed;  // by offset
  int64_t height = 0;
  for (const size_t i : order) {
    const plan::Buffer& buffer = problem.buffers[i];
    const int64_t offset = lowest_free(placed, buffer);
    const auto above = std::find_if(placed.begin(), placed.end(),
                                    [&](const Placed& other) { return other.offset > offset; });
    placed.insert(above, {buffer.lifespans[0], offset, offset + buffer.size});
    height = std::max(height, offset + buffer.size);
  }
  return height;
}

}  // namespace scopevm::bench
