/// @file
/// Memory planning: assigns each buffer of a program an offset in a memory pool, so that buffers
/// with overlapping lifespans do not overlap in memory. The library libscopevm_plan has no
/// dependencies; the compiler and `scopevm alloc plan` use it.
///
/// The problem is dynamic storage allocation, which is NP-hard (Garey and Johnson, problem SR2).
/// solve() runs a portfolio: heuristics, a search that improves plans, and an exact search that can
/// prove a plan optimal or a capacity infeasible.
///
/// Thread-safety: functions have no state. No exception leaves them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/c/export.h"
#include "scopevm/status.h"

namespace scopevm::plan {

/// A half-open interval of steps, `[lower, upper)`.
struct Lifespan {
  int64_t lower = 0;  ///< first step
  int64_t upper = 0;  ///< the step after the last one
};

/// An interval of bytes that needs an offset. Two buffers conflict if any of their lifespans
/// overlap and both have at least one byte. Views of one base do not conflict with each other.
/// While a view is live, all bytes of its base are reserved.
struct Buffer {
  std::string id;                   ///< for messages and CSV; need not be unique
  std::vector<Lifespan> lifespans;  ///< ascending, disjoint; at least one
  int64_t size = 0;                 ///< bytes, >= 0
  int64_t alignment = 1;            ///< the offset is a multiple of it; >= 1
  std::optional<int64_t> offset;    ///< if set, the required offset
  std::vector<int> pools;           ///< candidates, the preferred first; empty: all pools
  std::optional<int> base;          ///< if set, a view: this buffer is stored inside `base`
  int64_t base_offset = 0;          ///< of a view, in bytes from the base's offset
};

/// A pool of the problem. Buffers in distinct pools never conflict. A buffer uses its candidate of
/// least cost that has room; of equal costs, the preferred one.
struct Pool {
  std::string name;              ///< for messages and CSV
  std::optional<int64_t> limit;  ///< bytes
  double cost_per_byte = 0;      ///< cost of a buffer = its size times this; the sum is minimised
};

/// The input of solve().
struct Problem {
  std::vector<Buffer> buffers;  ///< what needs an offset
  std::vector<Pool> pools;      ///< empty: one pool without a limit
};

/// The portfolio's parts.
enum class Solver : uint8_t {
  kAutomatic,  ///< heuristics, then both searches alternately, until the plan is proved optimal
  kHeuristic,  ///< only heuristics; O(n log n) time
  kSearch,     ///< heuristics, then search until the deadline
  kExact,      ///< heuristics, then the exact search until the deadline
};

/// The options of solve().
struct Options {
  std::optional<int64_t> capacity;     ///< bytes, of each pool; solve() stops at a plan within it
  double time_limit_s = 10;            ///< CPU time of the calling thread, in seconds
  Solver solver = Solver::kAutomatic;  ///< the parts that run
  uint64_t seed = 1;  ///< of randomised searches: equal inputs and seeds try equal plans
};

/// What is proved about a plan.
enum class Proof : uint8_t {
  kNone,
  kOptimal,     ///< no plan costs less, and none with the same pools has a smaller height
  kInfeasible,  ///< no plan fits the capacity, the limits and the required offsets
};

/// The output of solve().
struct Plan {
  std::vector<int64_t> offsets;  ///< bytes, by buffer; empty if no plan was found
  std::vector<int> pools;        ///< by buffer
  /// Bytes: the largest end of a buffer, over all pools. If no plan was found, that of the lowest
  /// plan that exceeds the capacity or a limit; 0 if there is none.
  int64_t height = 0;
  int64_t lower_bound = 0;     ///< bytes: no plan with the same pools has a smaller height
  double cost = 0;             ///< the sum over the buffers of size times cost_per_byte
  Proof proof = Proof::kNone;  ///< what is proved
  std::string solver;          ///< the part of the portfolio that found the plan
  double cpu_s = 0;            ///< CPU time, in seconds
};

/// Chooses pools of low cost, then searches for a plan of least height in these pools. Returns the
/// best plan found; `offsets` is empty if none was found within the capacity and the limits.
/// Deterministic if it ends before the time limit and no search was needed.
/// Errors: kInvalidArgument for an invalid problem (negative sizes, empty lifespans, cyclic views,
/// required offsets that conflict), kOutOfMemory.
SCOPEVM_API Result<Plan> solve(const Problem& problem, const Options& options = {});

/// Checks a plan by definition; shares no code with the solvers. O(n log n + conflicts) time.
/// Errors: kInvalidArgument, with the ids of the buffers that overlap, or of the buffer that breaks
/// its alignment, required offset, pool or limit; kOutOfMemory.
SCOPEVM_API Status validate(const Problem& problem, const Plan& plan);

/// The largest sum of the sizes of buffers that are live at one step: no plan in one pool has a
/// smaller height. Errors: like solve().
SCOPEVM_API Result<int64_t> live_bytes_bound(const Problem& problem);

/// Parses `id,lower,upper,size` and optional columns; docs/planning.md describes them. Errors:
/// kInvalidModel, with the line.
SCOPEVM_API Result<Problem> parse_csv(std::string_view text);

/// A problem with a plan.
struct PlannedProblem {
  Problem problem;  ///< its buffers have no required offsets, unless the column `fixed` has them
  Plan plan;        ///< offsets, pools and height
};

/// Like parse_csv(), and parses the columns `offset`, which is required, and `pool`. A pool without
/// a declaration has no limit. Does not validate() the plan. Errors: kInvalidModel, with the line.
SCOPEVM_API Result<PlannedProblem> parse_plan_csv(std::string_view text);

/// The inverse of parse_csv(). With a plan, appends the column `offset`, and `pool` if there are
/// several pools. Errors: kInvalidArgument (an id or name that CSV cannot express).
SCOPEVM_API Result<std::string> to_csv(const Problem& problem, const Plan* plan = nullptr);

}  // namespace scopevm::plan
