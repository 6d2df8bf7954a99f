// Portfolio: heuristics, then the searches, over the sections of a problem.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/plan/deadline.h"
#include "runtime/plan/orders.h"
#include "runtime/plan/problem/sections.h"

namespace scopevm::plan {

class Portfolio {
 public:
  // REQUIRES: the arguments outlive this object.
  Portfolio(std::vector<Section>& sections, const Options& options, const Deadline& deadline);

  // Lowers the heights of the sections until each plan is within its capacity, and the plans are
  // proved optimal or, if there is a capacity in the options, within it. Stops at the deadline, and
  // if a section is proved to exceed its capacity.
  void run();

  bool is_infeasible() const { return is_infeasible_; }

 private:
  // The state of the searches of a section.
  struct Search {
    double slice_s = 0;          // CPU time of the next search
    std::optional<int64_t> gap;  // exact searches of capacities up to it timed out
    uint64_t calls = 0;          // of improve()
    std::optional<OrderSearch> orders;
  };

  bool is_done(const Section& section) const;
  int64_t goal_of(const Section& section) const;
  size_t find_worst() const;
  void search(size_t index);
  void search_by_improving(size_t index, double slice_s);
  void search_orders(size_t index, double slice_s);
  static void set_height(Section& section, int64_t height);
  void search_exactly(size_t index, double slice_s);
  int64_t next_capacity(size_t index);

  std::vector<Section>& sections_;
  const Options& options_;
  const Deadline& deadline_;
  std::vector<Search> searches_;  // by section
  int64_t target_bytes_ = 0;      // no section needs to be lower
  bool is_infeasible_ = false;
};

}  // namespace scopevm::plan
