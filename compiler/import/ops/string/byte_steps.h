// Patterns as nondeterministic automata over bytes (Thompson's construction). automaton.cpp is
// next.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "compiler/import/ops/string/pattern.h"

namespace scopevm::compiler::frontend {

// A state of the automaton. Its other fields are valid for some kinds only.
struct ByteStep {
  enum class Kind : uint8_t { kAccept, kBytes, kSplit, kAssertion };
  Kind kind = Kind::kAccept;
  // kBytes: a byte in [first, last] leads to `next`. None if last < first.
  uint8_t first = 0;
  uint8_t last = 0;
  Assertion assertion = Assertion::kBeginText;
  int32_t next = 0;
  int32_t other = 0;  // of kSplit: the second successor
};

class ByteSteps {
 public:
  // State 0 accepts. `is_complete` is false if there would be too many states.
  explicit ByteSteps(const Pattern& pattern);

  std::span<const ByteStep> steps() const { return steps_; }
  int32_t initial() const { return initial_; }
  bool is_complete() const { return !is_full_; }

 private:
  // The functions return the state before what they add. `next` is the state after it.
  int32_t add(const Pattern& pattern, int32_t next);
  int32_t add_repeat(const Pattern& pattern, int32_t next);
  int32_t add_characters(const CharacterSet& set, int32_t next);
  int32_t add_bytes(std::span<const uint8_t> first, std::span<const uint8_t> last, int32_t next);
  int32_t add_step(const ByteStep& step);
  int32_t either(int32_t a, int32_t b) {
    return add_step({.kind = ByteStep::Kind::kSplit, .next = a, .other = b});
  }

  std::vector<ByteStep> steps_;
  // The states of the current set of characters, by first and last byte and next state.
  std::map<std::array<int32_t, 3>, int32_t> known_;
  int32_t initial_ = 0;
  bool is_full_ = false;
};

}  // namespace scopevm::compiler::frontend
