// Assigns offsets at given dims by first fit, in several priority orders.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "compiler/memory/plan.h"

namespace scopevm::compiler::memory {
namespace {

bool live_together(const PlannedBuffer& a, const PlannedBuffer& b) {
  return a.lower < b.upper && b.lower < a.upper;
}

int64_t lifespan(const PlannedBuffer& buffer) { return buffer.upper - buffer.lower; }

using Priority = std::function<int64_t(int)>;

// Descending by priority. Ties are broken by the earlier lifespan, then by the smaller index, so
// that plans are deterministic.
std::vector<int> order_by(const std::vector<PlannedBuffer>& buffers, const Priority& priority) {
  std::vector<int64_t> rank(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) rank[i] = priority(static_cast<int>(i));
  std::vector<int> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return rank[a] != rank[b] ? rank[a] > rank[b] : buffers[a].lower < buffers[b].lower;
  });
  return order;
}

// For each buffer: the bytes of all buffers with overlapping lifespans, including itself.
std::vector<int64_t> conflicting_bytes(const std::vector<PlannedBuffer>& buffers) {
  std::vector<int64_t> bytes(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i)
    for (const PlannedBuffer& other : buffers)
      if (live_together(buffers[i], other)) bytes[i] += other.size;
  return bytes;
}

}  // namespace

void place_first_fit(std::vector<PlannedBuffer>& buffers, const std::vector<int>& order) {
  std::vector<const PlannedBuffer*> placed;  // by offset
  for (int index : order) {
    PlannedBuffer& buffer = buffers[index];
    int64_t at = 0;
    for (const PlannedBuffer* other : placed) {
      if (!live_together(buffer, *other)) continue;
      // `placed` is sorted by offset, so the first sufficient gap is the lowest.
      if (at + buffer.size <= *other->offset) break;
      at = std::max(at, *other->offset + other->size);
    }
    buffer.offset = at;
    placed.insert(std::upper_bound(placed.begin(), placed.end(), &buffer,
                                   [](const PlannedBuffer* a, const PlannedBuffer* b) {
                                     return a->offset < b->offset;
                                   }),
                  &buffer);
  }
}

int64_t height_of(const std::vector<PlannedBuffer>& buffers) {
  int64_t height = 0;
  for (const PlannedBuffer& buffer : buffers)
    height = std::max(height, *buffer.offset + buffer.size);
  return height;
}

int64_t lower_bound_of(const std::vector<PlannedBuffer>& buffers) {
  // Lifespans are half-open: at one step, ends (negative changes) sort before starts.
  std::vector<std::pair<int64_t, int64_t>> events;
  for (const PlannedBuffer& buffer : buffers) {
    events.emplace_back(buffer.lower, buffer.size);
    events.emplace_back(buffer.upper, -buffer.size);
  }
  std::sort(events.begin(), events.end());
  int64_t live = 0, most = 0;
  for (const auto& [time, change] : events) most = std::max(most, live += change);
  return most;
}

std::vector<std::vector<int>> placement_orders(const std::vector<PlannedBuffer>& buffers,
                                               bool may_use_spans) {
  std::vector<int64_t> conflicts = conflicting_bytes(buffers);
  // For each buffer, the largest number of live bytes at a step of its lifespan: buffers at the
  // peak of the function come first.
  std::map<int64_t, int64_t> changes;
  for (const PlannedBuffer& b : buffers) {
    changes[b.lower] += b.size;
    changes[b.upper] -= b.size;
  }
  std::vector<int64_t> peak(buffers.size());
  int64_t live = 0;
  for (const auto& [time, change] : changes) {
    live += change;
    for (size_t i = 0; i < buffers.size(); ++i)
      if (buffers[i].lower <= time && time < buffers[i].upper) peak[i] = std::max(peak[i], live);
  }
  auto size = [&](int i) { return buffers[i].size; };
  auto span = [&](int i) { return lifespan(buffers[i]); };
  std::vector<std::vector<int>> orders;
  auto add = [&](bool is_by_span, const Priority& priority) {
    if (may_use_spans || !is_by_span) orders.push_back(order_by(buffers, priority));
  };
  add(false, size);
  // Sizes are multiples of the alignment; dividing by it first keeps the product from overflowing.
  add(true, [&](int i) { return size(i) / Pool::kLeastAlignment * span(i); });
  add(false, [&](int i) { return peak[i]; });
  add(true, span);
  add(false, [&](int i) { return conflicts[i]; });
  add(true, [&](int i) { return conflicts[i] / Pool::kLeastAlignment * span(i); });
  add(false, [&](int i) { return -buffers[i].lower; });
  add(false, [&](int i) { return buffers[i].upper; });
  return orders;
}

int64_t place_best(std::vector<PlannedBuffer>& buffers, bool may_use_spans) {
  int64_t bound = lower_bound_of(buffers);
  std::vector<PlannedBuffer> best;
  for (const std::vector<int>& order : placement_orders(buffers, may_use_spans)) {
    std::vector<PlannedBuffer> trial = buffers;
    place_first_fit(trial, order);
    if (best.empty() || height_of(trial) < height_of(best)) best = std::move(trial);
    // No plan is lower than the bound, so the remaining orders cannot improve it.
    if (height_of(best) == bound) break;
  }
  buffers = std::move(best);
  return height_of(buffers);
}

}  // namespace scopevm::compiler::memory
