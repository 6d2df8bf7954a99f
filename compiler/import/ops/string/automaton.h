// Patterns as deterministic automata over bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/import/ops/string/pattern.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// The automaton that accepts the strings that match the whole pattern, as the operand of
// sv.match_strings. Bytes that are not valid UTF-8 match \C only. Errors: kUnsupported (the
// automaton has too many states).
Result<std::vector<int32_t>> automaton_of(const Pattern& pattern);

}  // namespace scopevm::compiler::frontend
