// Budget: limits the time of the heuristics.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace scopevm::plan {

// Counts operations instead of reading a clock, so that equal problems get equal plans. One unit is
// about 1 us of one core of a Cascade Lake server.
class Budget {
 public:
  // With the factor 1: 8 ms for 1,000 items, of which models need 1 to 3; 80 ms for 10,000; 18 s
  // for 1,000,000.
  Budget(size_t items, double factor) : items_(static_cast<double>(items)) {
    const double depth = std::log2(items_ + 2);
    per_move_ = depth / 12;
    per_placement_ = depth / 20;
    total_ = factor * std::max(8e3, items_ * (1.5 * depth - 12));
  }

  // A height that is more than 1 % above the target is worth more time.
  void set_height(int64_t height, int64_t target) { is_far_ = height - target > target / 100; }
  bool is_far() const { return is_far_; }

  bool is_spent() const { return left() <= 0; }

  // Moves of a placement on a skyline.
  int64_t moves() const { return static_cast<int64_t>(std::max(0.0, left() / per_move_ - items_)); }
  void spend_moves(int64_t moves) { spent_ += (items_ + static_cast<double>(moves)) * per_move_; }

  // FirstFit::work() of a placement.
  int64_t work() const {
    return static_cast<int64_t>(std::max(0.0, (left() - items_ * per_placement_) / kPerWork));
  }
  void spend_work(int64_t work) {
    spent_ += items_ * per_placement_ + static_cast<double>(work) * kPerWork;
  }

 private:
  static constexpr double kPerWork = 0.02;

  double left() const { return (is_far_ ? 8 : 1) * total_ - spent_; }

  double items_;
  double per_move_;
  double per_placement_;
  double total_;
  bool is_far_ = false;
  double spent_ = 0;
};

}  // namespace scopevm::plan
