#include "runtime/plan/heuristics/skyline.h"

#include <algorithm>

#include "runtime/plan/heuristics/skyline_tree.h"
#include "runtime/plan/heuristics/waiting.h"

namespace scopevm::plan {

namespace {

// An item that is not placed yet waits at one step of its lifespan, at which the skyline is
// highest, so items are reconsidered only if the skyline rises at that step.
class SkylinePlacement {
 public:
  SkylinePlacement(const Instance& instance, const Steps& steps, const std::vector<int32_t>& order,
                   const Deadline& deadline, int64_t& moves_left, std::vector<int64_t>& offsets)
      : instance_(instance),
        steps_(steps),
        order_(order),
        offsets_(offsets),
        ranks_(order.size()),
        waits_at_(order.size()),
        waiting_(steps.count(), ranks_),
        tree_(live_units(instance)),
        deadline_(deadline),
        moves_left_(moves_left) {
    offsets_.assign(order.size(), 0);
    for (size_t rank = 0; rank < order.size(); ++rank)
      ranks_[order[rank]] = static_cast<int32_t>(rank);
  }

  int64_t run() {
    place_required();
    add_waiting();
    for (int32_t rank = tree_.lowest_rank(); rank != SkylineTree::kNoRank;
         rank = tree_.lowest_rank())
      place_or_move(order_[rank]);
    return height_;
  }

 private:
  void place_required() {
    for (size_t i = 0; i < order_.size(); ++i)
      if (instance_.items[i].offset) {
        const SkylineTree::Peak top = peak(static_cast<int32_t>(i));
        offsets_[i] = *instance_.items[i].offset;
        set_end(static_cast<int32_t>(i), std::max(top.height, end_of(i)));
      }
  }

  // Adds the last in the order first: each addition to a queue then takes O(1) time.
  void add_waiting() {
    for (auto item = order_.rbegin(); item != order_.rend(); ++item)
      if (!instance_.items[*item].offset) {
        waits_at_[*item] = peak(*item).step;
        waiting_.add(waits_at_[*item], *item);
      }
    for (int32_t step = 0; step < steps_.count(); ++step) update_rank(step);
  }

  // `item` is the first at one of the lowest steps with waiting items. If a step of its lifespan
  // is higher, the item waits at that step from now on.
  void place_or_move(int32_t item) {
    const int32_t step = waits_at_[item];
    const SkylineTree::Peak top = peak(item);
    const bool is_highest = top.height == tree_.lowest_height();
    waiting_.remove_first(step);
    update_rank(step);
    if (!is_highest && may_move()) {
      waits_at_[item] = top.step;
      waiting_.add(top.step, item);
      return update_rank(top.step);
    }
    const int64_t alignment = instance_.items[item].alignment;
    offsets_[item] = (top.height + alignment - 1) / alignment * alignment;
    set_end(item, end_of(item));
  }

  bool may_move() {
    constexpr int64_t kMovesPerClock = 256;
    if (moves_left_ % kMovesPerClock == 1 && deadline_.is_over()) moves_left_ = 0;
    if (moves_left_ == 0) return false;
    --moves_left_;
    return true;
  }

  SkylineTree::Peak peak(int32_t item) const {
    SkylineTree::Peak highest;
    for (const StepRange range : steps_.of(item)) {
      const SkylineTree::Peak top = tree_.peak(range);
      if (top.height > highest.height) highest = top;
    }
    return highest;
  }

  int64_t end_of(size_t item) const { return offsets_[item] + instance_.items[item].size; }

  void set_end(int32_t item, int64_t end) {
    for (const StepRange range : steps_.of(item)) tree_.assign(range, end);
    height_ = std::max(height_, end);
  }

  void update_rank(int32_t step) {
    const int32_t item = waiting_.first(step);
    tree_.set_rank(step, item == WaitingItems::kNone ? SkylineTree::kNoRank : ranks_[item]);
  }

  const Instance& instance_;
  const Steps& steps_;
  const std::vector<int32_t>& order_;
  std::vector<int64_t>& offsets_;
  std::vector<int32_t> ranks_;     // by item, the position in order_
  std::vector<int32_t> waits_at_;  // by item, a step of its lifespan
  WaitingItems waiting_;
  SkylineTree tree_;
  int64_t height_ = 0;
  const Deadline& deadline_;
  int64_t& moves_left_;
};

}  // namespace

int64_t place_on_skyline(const Instance& instance, const Steps& steps,
                         const std::vector<int32_t>& order, const Deadline& deadline,
                         int64_t& moves_left, std::vector<int64_t>& offsets) {
  return SkylinePlacement(instance, steps, order, deadline, moves_left, offsets).run();
}

}  // namespace scopevm::plan
