// Edits of a function that can lower the peak of a memory plan. Each is applied to the steps, so
// that the lifespans of the edited function are computed like those of any function. Private to
// compiler/memory/explain.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/memory/plan.h"
#include "scopevm/memory_explanation.h"

namespace scopevm::compiler::memory {

// A function to which edits are applied.
struct EditedFunction {
  explicit EditedFunction(const Function& unchanged);

  Function function;
  std::vector<int64_t> origin;  // by step: the step of the unchanged function
};

// A Change of scopevm/memory_explanation.h, whose steps are those of the edited function.
struct Edit {
  using Kind = MemoryExplanation::Change::Kind;

  Kind kind = Kind::kReorder;
  ValueId value;
  ValueId operand;             // kReuse
  std::vector<int64_t> steps;  // ascending
  int64_t before = 0;
  BufferIndex buffer;  // the buffer of `value`
  PoolIndex pool;      // kMove
};

// REQUIRES: `liveness` is that of the function, and the edit was found for the function.
void apply(const Edit& edit, const Liveness& liveness, EditedFunction& edited);

}  // namespace scopevm::compiler::memory
