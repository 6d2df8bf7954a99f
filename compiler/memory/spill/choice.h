// Which buffers leave a pool that is over its limit, and when: a covering problem over the steps of
// a function that knows no function. At each step, the bytes that are gone must make up for what is
// too much.
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

  // It may lie in another pool all its life.
  struct Move {
    PoolIndex pool;
    double cost = 0;  // seconds
  };
  std::vector<Move> moves;

  // Or a value that it holds is copied out once, and back before it is next used.
  struct Gap {
    int64_t lower = 0;  // gone in steps [lower, upper)
    int64_t upper = 0;
  };
  struct Way {
    PoolIndex pool;
    double out_cost = 0;   // of the copy out
    double back_cost = 0;  // of each copy back
  };
  struct Held {
    int64_t made = 0;  // the step that writes the value
    double times = 1;  // a call, that it is made: costs have it in them
    std::vector<Gap> gaps;
    std::vector<Way> ways;
  };
  std::vector<Held> values;
};

struct SpillProblem {
  int64_t steps = 0;
  int64_t room = 0;                                     // bytes that items may take at a step
  std::map<PoolIndex, std::vector<int64_t>> elsewhere;  // room in other pools, by step
  std::vector<SpillItem> items;
};

// What becomes of an item.
struct SpillChoice {
  std::optional<int> move;  // index of SpillItem::moves
  struct Held {
    int way = 0;            // index of Held::ways, if there are gaps
    std::vector<int> gaps;  // in which it is gone, ascending
  };
  std::vector<Held> values;  // by SpillItem::values
};

struct SpillSolution {
  bool is_found = false;
  std::optional<int64_t> worst_step;  // if none is found: the step with the most bytes too much
  std::vector<SpillChoice> choices;   // by item
  double cost = 0;
  double lower_bound = 0;  // no solution costs less
};

// A solution of small cost, and a bound: the covering condition is relaxed by a price per step and
// byte (Lagrange multipliers, raised by the subgradient method with Polyak's step length); at given
// prices each item has its own cheapest choice, and the sum is a bound. Such choices are then
// completed greedily and thinned out. What one step needs by itself is a bound as well. Room in
// other pools is kept by solutions and ignored by the bound. The same problem gives the same
// solution.
SpillSolution choose_spills(const SpillProblem& problem);

}  // namespace scopevm::compiler::memory
