// Chooses the buffers to move or spill from a pool that is over its limit, and the steps during
// which they are spilled. This is a covering problem: at each step, the moved and spilled bytes
// must cover the excess over the limit. Steps are plain numbers: this file does not depend on the
// structs of a Program.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/support/index.h"

namespace scopevm::compiler::memory {

// A buffer of the pool that is over its limit.
struct SpillItem {
  int64_t bytes = 0;
  int64_t lower = 0;  // live in steps [lower, upper)
  int64_t upper = 0;

  // First alternative: the buffer is stored in another pool for its whole lifespan.
  struct Move {
    PoolIndex pool;
    double cost = 0;  // seconds
  };
  std::vector<Move> moves;

  // Second alternative: a value in the buffer is copied out once (spilled), and copied back
  // (reloaded) before its next use.
  struct Gap {
    int64_t lower = 0;  // spilled in steps [lower, upper)
    int64_t upper = 0;
  };
  // A destination of the spill.
  struct Destination {
    PoolIndex pool;
    double out_cost = 0;   // seconds of the copy out
    double back_cost = 0;  // seconds of each copy back
  };
  struct Value {
    int64_t made = 0;  // the step that writes the value
    double times = 1;  // executions of that step per call; included in the costs
    std::vector<Gap> gaps;
    std::vector<Destination> destinations;
  };
  std::vector<Value> values;
};

struct SpillProblem {
  int64_t steps = 0;
  int64_t room = 0;                                     // bytes that items may occupy at a step
  std::map<PoolIndex, std::vector<int64_t>> elsewhere;  // room in other limited pools, by step
  std::vector<SpillItem> items;
};

// The decision for one item.
struct SpillChoice {
  std::optional<int> move;  // index into SpillItem::moves
  struct Value {
    int destination = 0;    // index into SpillItem::Value::destinations, if `gaps` is not empty
    std::vector<int> gaps;  // the gaps in which the value is spilled, ascending
  };
  std::vector<Value> values;  // by SpillItem::values
};

struct SpillSolution {
  bool is_found = false;
  // The step with the largest remaining excess in the first failed attempt. Always set if no
  // solution is found; can also be set if a later attempt found one.
  std::optional<int64_t> worst_step;
  std::vector<SpillChoice> choices;  // by item
  double cost = 0;                   // seconds
  double lower_bound = 0;            // seconds; lower bound of every solution's cost
};

// Returns a solution of low cost, if one is found, and a lower bound. The covering constraints are
// relaxed with a price per step and byte (Lagrangian relaxation; subgradient method with Polyak
// steps). At given prices, each item's cheapest choice is independent of the others, and together
// they give a lower bound. These choices are completed greedily to a solution, and redundant ones
// are removed. The least cost of relieving a single step is another lower bound. Solutions respect
// the room in other pools; the bounds ignore it. Deterministic.
SpillSolution choose_spills(const SpillProblem& problem);

}  // namespace scopevm::compiler::memory
