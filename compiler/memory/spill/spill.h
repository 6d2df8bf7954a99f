// Pools with limits: what does not fit leaves them. Steps are rewritten before the plan is made, so
// that copies out and back are steps like any other.
//   site.cpp    a function's steps -> a SpillProblem
//   choice.cpp  a SpillProblem -> who leaves, and when; on top of trial.cpp
//   spill.cpp   choices -> places and copies in the steps
//   limits.cpp  all pools of a function, again until the plan's heights fit
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/memory/plan.h"
#include "compiler/memory/samples.h"
#include "compiler/memory/spill/choice.h"
#include "compiler/program.h"

namespace scopevm::compiler::memory {

// What left one pool of one function, and why.
struct SpillReport {
  std::string function;
  PoolIndex pool;
  int64_t limit = 0;
  int64_t needed = 0;  // bytes that live at the peak, had nothing left
  double seconds = 0;  // of copies and of slower accesses in a call, by the machine's numbers
  double lower_bound_seconds = 0;  // no choice takes less
  struct Copy {
    std::string value;
    DimExpr bytes;
    double times = 1;  // in a call
    PoolIndex from;
    PoolIndex to;
    std::string made_because;
    std::string read_because;
  };
  std::vector<Copy> copies;
  struct Move {
    std::string value;
    DimExpr bytes;
    PoolIndex to;
  };
  std::vector<Move> moves;  // lie in another pool all their life
};

// Bytes by pool.
using PoolBytes = std::map<PoolIndex, int64_t>;

// A function as one pool sees it.
struct SpillSite {
  SpillProblem problem;
  Liveness liveness;
  std::vector<BufferIndex> buffers;          // by item
  std::vector<std::vector<ValueId>> values;  // by item, as SpillItem::values
  int64_t peak = 0;                          // bytes that live at one step, fixed ones included
};

// `fixed` bytes of each pool are not the plan's: results, and what callees hold.
SpillSite read_site(const Program& program, const Function& function, PoolIndex pool,
                    const PoolBytes& room, const PoolBytes& fixed, const Request& request);

// Rewrites `function` so that what lives in `pool` at one step fits into `room`. Errors:
// kResourceLimit, with what is live at the peak.
Result<SpillReport> spill(const Program& program, Function& function, PoolIndex pool,
                          const PoolBytes& room, const PoolBytes& fixed, const Request& request);

// Rewrites the functions of a program where the machine's limits ask for it, so that their plans,
// at limit_request, are within all of them. What data decides is left to the session's limits.
// Returns what left. Errors: those of plan() and spill(), and kResourceLimit where holes between
// buffers go over a limit.
Result<std::vector<SpillReport>> keep_limits(Program& program);

}  // namespace scopevm::compiler::memory
