// Memory planning: assigns each planned value and each kernel temporary an offset in its pool, as a
// formula over dims.
//   liveness.cpp      a function's steps -> one half-open lifespan per buffer
//   uses.cpp          the steps that access each buffer
//   live_bytes.cpp    the live bytes of an arena at each step
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

#include "compiler/memory/liveness.h"
#include "compiler/program/program.h"
#include "compiler/shapes/shape_program.h"
#include "scopevm/plan.h"
#include "scopevm/status.h"

namespace scopevm::compiler::memory {

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
