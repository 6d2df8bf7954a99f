// Memory plan: gives every intermediate and every kernel temporary an offset in the workspace, as a
// formula over the request's dims.
//   pinned.cpp     which lie where another device's driver copies best
//   unused.cpp     devices that nothing needs
//   stack.cpp      which buffers lie in the frame instead
//   liveness.cpp   a function's steps -> one half-open lifespan per buffer
//   first_fit.cpp  sizes at one shape -> offsets at that shape, in several orders
//   layers.cpp     offsets at one shape -> who lies on whom -> offsets at any shape
//   plan.cpp       the best layers at sample shapes -> offset formulas in the shape program
//   spill/         what leaves pools that are over their limits, before all that
//   validate.cpp   offsets -> Status; shares no code with the planner
//   csv.cpp        plans as text
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/program.h"
#include "compiler/shapes/program/shape_program.h"
#include "scopevm/status.h"

namespace scopevm::compiler::memory {

// An interval with a size, before and after it has an offset.
struct Buffer {
  int id = 0;
  int64_t lower = 0;  // live in steps [lower, upper)
  int64_t upper = 0;
  int64_t size = 0;               // bytes
  std::optional<int64_t> offset;  // bytes
};

using BufferIndex = isa::Index<struct BufferTag>;  // Liveness::buffers

// Which buffer holds each value and temporary of a function.
struct Liveness {
  struct Lifespan {
    int64_t lower = 0;
    int64_t upper = 0;
    DimExpr bytes;         // rounded up to the pool's alignment
    SegmentIndex segment;  // in which `bytes` becomes known
    PoolIndex pool;
  };
  IndexedVector<BufferIndex, Lifespan> buffers;
  // None of values that are not planned.
  IndexedVector<ValueId, std::optional<BufferIndex>> buffer_of_value;
  std::vector<std::vector<BufferIndex>> buffer_of_temporary;  // by step and temporary
};

// The value whose bytes `id` shows: itself, or what it is a view of.
ValueId root_of(const Function& function, ValueId id);
// The pool of a value outside of the function that computes it.
PoolIndex result_pool(const Machine& machine, const Value& value);
// For each value: whether it is the root of an output. Such a value has a storage of its own.
IndexedVector<ValueId, bool> output_roots(const Function& function);

// A position in the steps for each root value; none of unused ones.
using LastSteps = IndexedVector<ValueId, std::optional<int64_t>>;
// The last step that reads the value or writes it again; the number of steps if it is an output. A
// value that is computed before a loop and used in it is live until the loop's end.
LastSteps last_uses(const Function& function);

// The step after which a register must release the storage of a root value: its last use, or the
// end of the branches around that use, if the value was computed before them.
LastSteps release_steps(const Function& function);

Liveness find_lifespans(const Machine& machine, const Function& function);

// Puts a buffer into another pool, with all values and scratch that it holds.
void move_buffer(Function& function, const Liveness& liveness, BufferIndex buffer, PoolIndex pool);

// Puts what is copied between a CPU and another device into the pool that is pinned for that, if
// the machine has one, and nobody asked for another place.
void use_pinned(Program& program);

// Puts buffers that nobody asked to lie elsewhere into the frame, on CPUs that have a stack: all of
// a stage's, where that saves the stage's storage and the frame stays within the stack's limit.
// Parameters that may lie in a caller's frame get the stack's pool. Errors: kInvalidModel, with the
// value that was asked to lie there and cannot.
Status use_stacks(Program& program);

// Takes devices that are no CPUs, and that neither hold nor compute anything, out of the program
// and its machine: what runs it needs not have them.
void drop_unused_devices(Program& program);

// Offsets by first fit, in the given order of indexes: each buffer goes to the lowest gap that
// holds it between the placed buffers that live at the same time.
void place_first_fit(std::vector<Buffer>& buffers, const std::vector<int>& order);
// Orders that are good on different graphs: by size, by lifespan, by conflicts, by time. Those that
// look at how long a buffer lives change when steps are added between others; the rest do not.
std::vector<std::vector<int>> placement_orders(const std::vector<Buffer>& buffers,
                                               bool may_use_spans = true);
// Places with every order and keeps the lowest. Returns the height.
int64_t place_best(std::vector<Buffer>& buffers, bool may_use_spans = true);

// What a plan keeps when sizes change: the order of offsets, and the buffers that lie directly
// below each. Two buffers that live at the same time are always one above the other.
struct Layers {
  std::vector<int> order;               // lower offsets first
  std::vector<std::vector<int>> below;  // by buffer
};
Layers layers_of(const std::vector<Buffer>& buffers);
// Offsets by layers: the largest end of the buffers below. REQUIRES: the buffers are those that
// `layers` was made of, but for sizes and offsets.
void place_by_layers(const Layers& layers, std::vector<Buffer>& buffers);

// End of the highest buffer.
int64_t height_of(const std::vector<Buffer>& buffers);
// The largest sum of sizes that live at one time: no plan is lower.
int64_t lower_bound_of(const std::vector<Buffer>& buffers);

// Buffers that live at the same time must not overlap; offsets are aligned and not negative.
Status validate(const std::vector<Buffer>& buffers, int64_t height, int64_t alignment);

// The buffers of one pool whose sizes become known in one segment: planned together, one storage.
struct Arena {
  SegmentIndex segment;
  PoolIndex pool;
  std::vector<BufferIndex> buffers;
  Layers layers;  // by position in `buffers`
  ShapeProgram::ValueIndex height;
  ShapeProgram::ValueIndex lower_bound;
};
using ArenaIndex = isa::Index<struct ArenaTag>;  // Plan::arenas

struct Plan {
  Liveness liveness;
  IndexedVector<ArenaIndex, Arena> arenas;  // by segment, then pool; none is empty
  IndexedVector<BufferIndex, ArenaIndex> arena_of_buffer;
  IndexedVector<BufferIndex, ShapeProgram::ValueIndex> offsets;  // in its arena

  // An arena at given dims, to validate or to print. Empty when the dims overflow.
  std::vector<Buffer> at(const Arena& arena, const ShapeProgram& shapes,
                         const std::map<std::string, int64_t>& symbols, int64_t threads) const;
  // An arena's height as one expression over dims and threads. Empty when it would be too long to
  // read.
  std::optional<DimExpr> height_formula(const Arena& arena) const;
};

// Plans `function` and adds the formulas to `shapes`. Of the plans that several orders give at its
// dimensions' representative values and at others, takes the one whose formulas come closest to the
// lower bound at all of them. Validates the plan at the representative and at other dims before it
// returns. Errors: kInternal when a plan does not hold (our defect), kInvalidModel when sizes
// overflow.
Result<Plan> plan(const Machine& machine, const Function& function, ShapeProgram& shapes);

// `id,lower,upper,size[,offset]`, one buffer a line, behind a header line.
std::string to_csv(const std::vector<Buffer>& buffers);
// Errors: kInvalidModel with the line. A sixth column ("alignment" of the public instances) is read
// over.
Result<std::vector<Buffer>> parse_csv(std::string_view text);

}  // namespace scopevm::compiler::memory
