// Spilling: keeps pools within their limits. Rewrites the steps of functions before memory is
// planned, so that spill and reload copies are ordinary steps.
//   instance.cpp  a function's steps -> a SpillProblem
//   choice.cpp    a SpillProblem -> the spilled buffers and steps; based on trial.cpp
//   spill.cpp     choices -> places and copies in the steps
//   limits.cpp    all pools of all functions, repeated until the heights of the plans fit
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/memory/plan.h"
#include "compiler/memory/samples.h"
#include "compiler/memory/spill/choice.h"
#include "compiler/program/program.h"

namespace scopevm::compiler::memory {

// The spills of one pool of one function, with their reasons and estimated cost.
struct SpillReport {
  std::string function;
  PoolIndex pool;
  int64_t limit = 0;
  int64_t needed = 0;  // most live bytes at one step, without spilling
  // Estimated cost of copies and slower accesses per call of the model. enforce_limits() counts the
  // calls of the function; spill() assumes one.
  double seconds = 0;
  double lower_bound_seconds = 0;  // lower bound of that cost for any choice
  struct Copy {
    std::string value;
    DimExpr bytes;
    double times = 1;  // executions per call
    PoolIndex from;
    PoolIndex to;
    std::string producer_reason;
    std::string consumer_reason;
  };
  std::vector<Copy> copies;
  struct Move {
    std::string value;
    DimExpr bytes;
    PoolIndex to;
  };
  std::vector<Move> moves;  // buffers that are stored in another pool for their whole lifespan
};

// Bytes by pool.
using PoolBytes = std::map<PoolIndex, int64_t>;
// The bytes of a pool; 0 for a pool without an entry.
int64_t bytes_in(const PoolBytes& bytes, PoolIndex pool);

// "POOL is limited to ... bytes", with the bytes that constants take. `room`: the other bytes of
// the limit. REQUIRES: the pool is limited.
std::string limit_text(const Machine& machine, PoolIndex pool, int64_t room);
// " (for n=4, ...)": the dims of the request; empty if it has none.
std::string dims_text(const Request& request);

// The spill problem of one pool of one function, with the buffers and values that it refers to.
struct SpillInstance {
  SpillProblem problem;
  Liveness liveness;
  std::vector<BufferIndex> buffers;          // by item
  std::vector<std::vector<ValueId>> values;  // by item, as SpillItem::values
  std::vector<int64_t> live;  // bytes in the pool by step, without spilling, with fixed ones
};

// Translates the steps of `function` into the spill problem of `pool` at `request`. `room`: the
// bytes available in each limited pool. `fixed`: bytes of each pool that cannot be spilled
// (results, values with their own storage, plans of callees).
SpillInstance read_instance(const Program& program, const Function& function, PoolIndex pool,
                            const PoolBytes& room, const PoolBytes& fixed, const Request& request);

// Rewrites `function` so that the live bytes of `pool` at `request` are within `room` at every
// step. Ignores data-dependent sizes. Errors: kResourceLimit, with the buffers that are live at a
// step where the limit cannot be kept.
Result<SpillReport> spill(const Program& program, Function& function, PoolIndex pool,
                          const PoolBytes& room, const PoolBytes& fixed, const Request& request);

// Rewrites the functions of a program so that their plans at limit_request() are within the limits
// of all pools. Data-dependent sizes are not planned for: the session enforces their limits at run
// time. Returns the spills. Errors: those of ShapeProgram::create(), plan() and spill(). Also
// kResourceLimit, if the constants in a pool exceed its limit, or if a plan exceeds a limit because
// of fragmentation.
Result<std::vector<SpillReport>> enforce_limits(Program& program);

}  // namespace scopevm::compiler::memory
