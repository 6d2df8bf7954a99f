// Partial solutions of a SpillProblem, and the greedy steps that complete and reduce them. Private
// to compiler/memory/spill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "compiler/memory/spill/choice.h"

namespace scopevm::compiler::memory {

// A partial solution: a choice for each item, the remaining excess at each step, and the cost.
class Trial {
 public:
  explicit Trial(const SpillProblem& problem);

  const std::vector<int64_t>& excess() const { return excess_; }
  const std::vector<SpillChoice>& choices() const { return choices_; }
  double cost() const { return cost_; }
  // The step with the largest excess.
  int64_t worst_step() const;
  // Whether no step has an excess: the partial solution is a solution.
  bool is_done() const;

  // The cost of one item's choice, in seconds.
  static double cost_of(const SpillItem& item, const SpillChoice& choice);

  // Sets the choice of item i. Returns false without a change if another pool lacks the room.
  bool set(size_t i, const SpillChoice& choice);

 private:
  void apply(const SpillItem& item, const SpillChoice& choice, int sign);
  bool has_room(const SpillItem& item, const SpillChoice& choice) const;

  const SpillProblem& problem_;
  std::vector<int64_t> excess_;                          // bytes over the room, by step
  std::map<PoolIndex, std::vector<int64_t>> elsewhere_;  // remaining room in other pools, by step
  std::vector<SpillChoice> choices_;
  double cost_ = 0;
};

// Whether the item is spilled at `step`, or is moved and live at `step`.
bool is_spilled_at(const SpillItem& item, const SpillChoice& choice, int64_t step);

// Completes the partial solution by the greedy rule for covering problems (Chvatal, 1979). While a
// step has an excess, applies one of the choices that relieve the worst step and for which other
// pools have room: the choice with the least additional cost per byte of excess that it covers, in
// total over all steps. Returns false if no such choice is left. Does not change item `banned`.
bool complete(const SpillProblem& problem, Trial& trial, size_t banned = SIZE_MAX);

// Removes choices and gaps that the solution does not need, the most expensive choices first.
void thin_out(const SpillProblem& problem, Trial& trial);

}  // namespace scopevm::compiler::memory
