// Suggests changes of a function that lower the peak of one of its arenas. Private to
// compiler/memory/explain.
#pragma once

#include <map>
#include <vector>

#include "compiler/memory/plan.h"
#include "compiler/memory/samples.h"
#include "scopevm/memory_explanation.h"

namespace scopevm::compiler::memory {

struct SuggestionRequest {
  const Program& program;
  const Function& function;
  const Arena& arena;
  int64_t height = 0;  // of the arena's plan
  const Request& request;
  // The bytes of all storages and constants in each pool. A buffer moves to a pool with a limit
  // only if there is room for it.
  const std::map<PoolIndex, int64_t>& bytes_of_pool;
  // The heights of the arenas that these bytes include.
  const std::map<PoolIndex, int64_t>& heights;
};

// Applies each edit of find_edits() for the largest buffers at the peak to a copy of the function,
// and plans the copy. Returns those with a lower peak, lowest first. Also returns the result of a
// greedy sequence of edits, if it is lower than all of these.
std::vector<MemoryExplanation::Suggestion> suggest(const SuggestionRequest& request);

}  // namespace scopevm::compiler::memory
