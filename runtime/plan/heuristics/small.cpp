// The placements of few items, which need conflicts instead of trees over steps.
#include <algorithm>
#include <limits>

#include "runtime/plan/heuristics/conflicts.h"
#include "runtime/plan/heuristics/first_fit.h"
#include "runtime/plan/heuristics/skyline.h"

namespace scopevm::plan {
namespace {

bool overlap(std::span<const StepRange> a, std::span<const StepRange> b) {
  for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    if (a[i].lower < b[k].upper && b[k].lower < a[i].upper) return true;
    a[i].upper < b[k].upper ? ++i : ++k;
  }
  return false;
}

}  // namespace

Conflicts::Conflicts(const Instance& instance, const Steps& steps) {
  const auto count = static_cast<int32_t>(instance.items.size());
  first_.push_back(0);
  for (int32_t i = 0; i < count; ++i) {
    for (int32_t k = 0; k < count; ++k)
      if (i != k && overlap(steps.of(i), steps.of(k))) items_.push_back(k);
    first_.push_back(items_.size());
  }
}

int64_t place_on_skyline(const Instance& instance, const Conflicts& conflicts,
                         const std::vector<int32_t>& order, std::vector<int64_t>& offsets) {
  constexpr int64_t kPlaced = std::numeric_limits<int64_t>::max();
  const size_t count = order.size();
  std::vector<int32_t> ranks(count);
  for (size_t rank = 0; rank < count; ++rank) ranks[order[rank]] = static_cast<int32_t>(rank);
  std::vector<int64_t> lowest(count);  // by rank: the largest end of a placed conflict
  offsets.assign(count, 0);
  int64_t height = 0;
  const auto place = [&](int32_t item, int64_t offset) {
    const int64_t end = offset + instance.items[item].size;
    offsets[item] = offset;
    height = std::max(height, end);
    lowest[ranks[item]] = kPlaced;
    for (const int32_t other : conflicts.of(item))
      lowest[ranks[other]] = std::max(lowest[ranks[other]], end);
  };
  size_t left = count;
  for (size_t i = 0; i < count; ++i)
    if (instance.items[i].offset) {
      place(static_cast<int32_t>(i), *instance.items[i].offset);
      --left;
    }
  for (; left > 0; --left) {
    int64_t least = kPlaced;
    for (const int64_t offset : lowest) least = std::min(least, offset);
    const auto first = std::find(lowest.begin(), lowest.end(), least);
    const int32_t item = order[first - lowest.begin()];
    const int64_t alignment = instance.items[item].alignment;
    place(item, (least + alignment - 1) / alignment * alignment);
  }
  return height;
}

namespace {

// Items that are placed, by ascending offset.
class PlacedItems {
 public:
  PlacedItems(const Instance& instance, const Conflicts& conflicts, std::vector<int64_t>& offsets)
      : instance_(instance),
        conflicts_(conflicts),
        offsets_(offsets),
        is_conflict_of_(instance.items.size(), -1) {}

  // The lowest free offset for an item.
  int64_t find(int32_t item) {
    const auto& [size, alignment, required, lifespans] = instance_.items[item];
    for (const int32_t other : conflicts_.of(item)) is_conflict_of_[other] = item;
    int64_t offset = 0;
    for (const int32_t other : placed_) {
      if (is_conflict_of_[other] != item) continue;
      if (offset + size <= offsets_[other]) break;
      const int64_t end = std::max(offset, offsets_[other] + instance_.items[other].size);
      offset = (end + alignment - 1) / alignment * alignment;
    }
    return offset;
  }

  void place(int32_t item, int64_t offset) {
    offsets_[item] = offset;
    const auto above = std::upper_bound(placed_.begin(), placed_.end(), offset,
                                        [&](int64_t at, int32_t i) { return at < offsets_[i]; });
    placed_.insert(above, item);
  }

 private:
  const Instance& instance_;
  const Conflicts& conflicts_;
  std::vector<int64_t>& offsets_;
  std::vector<int32_t> is_conflict_of_;  // the last item of find() that conflicts with this one
  std::vector<int32_t> placed_;
};

}  // namespace

bool place_first_fit(const Instance& instance, const Conflicts& conflicts,
                     const std::vector<int32_t>& order, int64_t limit,
                     std::vector<int64_t>& offsets) {
  offsets.assign(order.size(), 0);
  PlacedItems placed(instance, conflicts, offsets);
  for (size_t i = 0; i < order.size(); ++i)
    if (instance.items[i].offset) placed.place(static_cast<int32_t>(i), *instance.items[i].offset);
  for (const int32_t i : order) {
    if (instance.items[i].offset) continue;
    const int64_t offset = placed.find(i);
    if (offset > limit - instance.items[i].size) return false;
    placed.place(i, offset);
  }
  return true;
}

}  // namespace scopevm::plan
