// Sizes -> offsets at one shape, by first fit in several orders.
#include <algorithm>
#include <functional>
#include <numeric>

#include "compiler/memory/plan.h"

namespace scopevm::memory {
namespace {

bool live_together(const Buffer& a, const Buffer& b) {
  return a.lower < b.upper && b.lower < a.upper;
}

int64_t lifespan(const Buffer& buffer) { return buffer.upper - buffer.lower; }

// Orders that are good on different graphs; ties go to the earlier and then the smaller id, so
// that plans are the same in every run.
using Priority = std::function<int64_t(const Buffer&)>;

std::vector<int> order_by(const std::vector<Buffer>& buffers, const Priority& priority) {
  std::vector<int> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    int64_t x = priority(buffers[a]), y = priority(buffers[b]);
    return x != y ? x > y : buffers[a].lower < buffers[b].lower;
  });
  return order;
}

}  // namespace

void place_first_fit(std::vector<Buffer>& buffers, const std::vector<int>& order) {
  std::vector<const Buffer*> placed;  // by offset
  for (int index : order) {
    Buffer& buffer = buffers[index];
    int64_t at = 0;
    for (const Buffer* other : placed) {
      if (!live_together(buffer, *other)) continue;
      if (at + buffer.size <= other->offset) break;
      at = std::max(at, other->offset + other->size);
    }
    buffer.offset = at;
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), &buffer,
                         [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; }),
        &buffer);
  }
}

int64_t height_of(const std::vector<Buffer>& buffers) {
  int64_t height = 0;
  for (const Buffer& buffer : buffers) height = std::max(height, buffer.offset + buffer.size);
  return height;
}

int64_t lower_bound_of(const std::vector<Buffer>& buffers) {
  std::vector<std::pair<int64_t, int64_t>> events;  // ends sort before starts at one time
  for (const Buffer& buffer : buffers) {
    events.emplace_back(buffer.lower, buffer.size);
    events.emplace_back(buffer.upper, -buffer.size);
  }
  std::sort(events.begin(), events.end());
  int64_t live = 0, most = 0;
  for (const auto& [time, change] : events) most = std::max(most, live += change);
  return most;
}

int64_t place_best(std::vector<Buffer>& buffers) {
  const Priority priorities[] = {
      [](const Buffer& b) { return b.size; },
      [](const Buffer& b) { return b.size / 64 * lifespan(b); },
      [](const Buffer& b) { return lifespan(b); },
      [](const Buffer& b) { return -b.lower; },
  };
  int64_t bound = lower_bound_of(buffers);
  std::vector<Buffer> best;
  for (const Priority& priority : priorities) {
    std::vector<Buffer> trial = buffers;
    place_first_fit(trial, order_by(trial, priority));
    if (best.empty() || height_of(trial) < height_of(best)) best = std::move(trial);
    if (best.empty() || height_of(best) == bound) break;
  }
  if (!best.empty()) buffers = std::move(best);
  return height_of(buffers);
}

}  // namespace scopevm::memory
