// A state between nothing chosen and a solution of a SpillProblem, and the steps that lead from one
// to the other. Private to compiler/memory/spill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "compiler/memory/spill/choice.h"

namespace scopevm::compiler::memory {

// What is gone at each step, and what it costs.
class Trial {
 public:
  explicit Trial(const SpillProblem& problem);

  const std::vector<int64_t>& excess() const { return excess_; }
  const std::vector<SpillChoice>& choices() const { return choices_; }
  double cost() const { return cost_; }
  int64_t worst_step() const;
  bool is_done() const;

  // Cost of one item's choice.
  static double cost_of(const SpillItem& item, const SpillChoice& choice);

  // Makes `choice` that of item i. False, and nothing changes, where another pool has no room.
  bool set(size_t i, const SpillChoice& choice);

 private:
  void apply(const SpillItem& item, const SpillChoice& choice, int sign);
  bool has_room(const SpillItem& item, const SpillChoice& choice) const;

  const SpillProblem& problem_;
  std::vector<int64_t> excess_;  // bytes too much, by step
  std::map<PoolIndex, std::vector<int64_t>> elsewhere_;
  std::vector<SpillChoice> choices_;
  double cost_ = 0;
};

bool is_gone(const SpillItem& item, const SpillChoice& choice, int64_t step);

// Until nothing is too much: of what frees the worst step, the choice with the least cost for the
// bytes that it takes off all steps. False if there is none. Item `banned` stays as it is.
bool complete(const SpillProblem& problem, Trial& trial, size_t banned = SIZE_MAX);

// Takes back what is not needed, the dearest first.
void thin_out(const SpillProblem& problem, Trial& trial);

}  // namespace scopevm::compiler::memory
