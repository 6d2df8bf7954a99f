// Memory planning: assigns each planned value and each kernel temporary an offset in its pool, as a
// formula over dims.
//   inline/           inlines calls, so that one plan covers callers and callees
//   uses.cpp          the steps that access each buffer
//   pinned.cpp        moves buffers that are copied to or from an accelerator into pinned pools
//   scratch.cpp       moves scratch memory of kernels into faster pools
//   unused.cpp        removes unused devices from the program
//   stack.cpp         moves buffers into the stack frame of a function call
//   liveness.cpp      a function's steps -> one half-open lifespan per buffer
//   samples.cpp       the dims at which plans are compared and validated
//   layers.cpp        offsets at given dims -> Layers, and Layers -> offsets at any dims
//   choose_layers.cpp chooses the best Layers at sample dims
//   plan.cpp          Layers -> formulas of offsets in the shape program
//   spill/            spills buffers of pools that are over their limits; runs before plan.cpp
//
// libscopevm_plan (scopevm/plan.h) computes and validates the offsets at given dims.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/program.h"
#include "compiler/shapes/program/shape_program.h"
#include "scopevm/plan.h"
#include "scopevm/status.h"

namespace scopevm::compiler::memory {

using BufferIndex = isa::Index<struct BufferTag>;  // Liveness::buffers

// The lifespans of a function's buffers, and the buffer that holds each value and temporary.
struct Liveness {
  struct Lifespan {
    int64_t lower = 0;
    int64_t upper = 0;
    DimExpr bytes;         // rounded up to the pool's alignment
    SegmentIndex segment;  // the segment in which `bytes` becomes known
    PoolIndex pool;
  };
  IndexedVector<BufferIndex, Lifespan> buffers;
  // None for values that are not planned.
  IndexedVector<ValueId, std::optional<BufferIndex>> buffer_of_value;
  std::vector<std::vector<BufferIndex>> buffer_of_temporary;  // by step and temporary
};

// The value that owns the bytes of `id`: `id` itself, or the value at the end of its chain of
// views.
ValueId root_of(const Function& function, ValueId id);
// The pool in which a function stores its result `value`: the pool of the value. The device's
// global pool replaces the workspace and the constant pool.
PoolIndex result_pool(const Machine& machine, const Value& value);
// For each value: whether it is the root of an output. Such a value has no planned buffer.
IndexedVector<ValueId, bool> output_roots(const Function& function);

// A step index for each root value; none for unused values.
using LastSteps = IndexedVector<ValueId, std::optional<int64_t>>;
// The last step that reads or overwrites the value; the number of steps if it is an output. The
// last step of a value that is computed before a loop and used in it is the end of the loop or a
// later step. Swap partners have the same last step.
LastSteps last_uses(const Function& function);

// The step after which a register must release the storage of a root value. This is the last use,
// with one exception: if that is an If step or a step in a branch, and the value was computed
// before the if, it is the end of the if.
LastSteps release_steps(const Function& function);

// Computes lifespans and reuses buffers in place where kernels permit it.
Liveness find_lifespans(const Machine& machine, const Function& function);

// Changes the pool of all values and temporaries that `buffer` holds.
void move_buffer(Function& function, const Liveness& liveness, BufferIndex buffer, PoolIndex pool);

// Inlines calls of functions, and calls of closures whose function is known at compile time. Does
// not inline calls of recursive functions, and calls whose caller and callee have more than
// `most_steps` steps together. Removes functions that are not called any more.
void inline_calls(Program& program, int64_t most_steps);

// Moves workspace buffers that are copied to or from another device into the pool that is pinned
// for that device, if the machine has one. Does not move buffers that BufferUses reports as not
// movable, such as those with a required scope.
void use_pinned(Program& program);

// Moves scratch memory of kernels from the workspace into the arena of the highest bandwidth, if
// the machine description gives the bandwidth and the arena's limit cannot be exceeded. Runs after
// enforce_limits(): it uses the room that other buffers leave.
void use_fast_scratch(Program& program);

// On CPUs that have a stack, moves buffers without a required scope into the frame of their
// function. Moves either all workspace buffers of a segment or none, and keeps the frame within the
// stack's limit. A parameter gets the stack's pool if any call passes a buffer of a frame for it.
// Errors: kInvalidModel, with the name of a value that the graph requires in a stack, but that
// cannot be stored there.
Status use_stacks(Program& program);

// Removes unused devices from the program and its machine, so that a session does not need their
// drivers. A device is unused if it is not a CPU, runs no kernels, and stores no value, constant or
// temporary.
void remove_unused_devices(Program& program);

// The buffers of one pool whose sizes become known in one segment. They are planned together and
// have one storage.
struct Arena {
  SegmentIndex segment;
  PoolIndex pool;
  std::vector<BufferIndex> buffers;
  ShapeProgram::ValueIndex height;
  ShapeProgram::ValueIndex lower_bound;
};
using ArenaIndex = isa::Index<struct ArenaTag>;  // Plan::arenas

// The buffers of an arena at given dims, in the order of Arena::buffers, and their plan. The ids
// are those of Liveness::buffers.
struct PlacedArena {
  plan::Problem problem;
  plan::Plan plan;
};

struct Plan {
  Liveness liveness;
  IndexedVector<ArenaIndex, Arena> arenas;  // by segment, then pool; none is empty
  IndexedVector<BufferIndex, ArenaIndex> arena_of_buffer;
  IndexedVector<BufferIndex, ShapeProgram::ValueIndex> offsets;  // bytes, in the buffer's arena

  // An arena at given dims, to validate or to print. Empty if a size overflows, or if a symbol has
  // no value.
  std::optional<PlacedArena> at(const Machine& machine, const Arena& arena,
                                const ShapeProgram& shapes,
                                const std::map<std::string, int64_t>& symbols,
                                int64_t threads) const;
};

// Plans `function` and adds the formulas to `shapes`. Computes plans at many sample dims and takes
// the one that fits all samples best. Where no single plan fits, the offsets are those of the
// lowest of several plans at the dims of a request. Validates the result at all samples. Errors:
// kInternal if a plan is invalid (a defect of the planner), kInvalidModel if sizes overflow at all
// samples.
Result<Plan> make_plan(const Machine& machine, const Function& function, ShapeProgram& shapes);

}  // namespace scopevm::compiler::memory
