// Regular expressions in the syntax of RE2 (https://github.com/google/re2/wiki/Syntax), as trees.
// automaton.h is next.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/import/ops/string/character_set.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// A condition on the position in the string.
enum class Assertion { kBeginText, kEndText, kBeginLine, kEndLine, kWordBoundary, kNoWordBoundary };

struct Pattern {
  enum class Kind {
    kSequence,  // the empty sequence matches the empty string
    kChoice,
    kRepeat,
    kCharacter,
    kByte,  // any byte
    kAssertion
  };
  Kind kind = Kind::kSequence;
  std::vector<Pattern> parts;  // of kRepeat: one
  int least = 0;               // of kRepeat
  int most = 0;                // of kRepeat; negative without a limit
  CharacterSet characters = {};
  Assertion assertion = Assertion::kBeginText;

  bool is_empty() const { return kind == Kind::kSequence && parts.empty(); }
};

// Captures are not part of the result, and neither is which of several matches is preferred. The
// result is therefore valid for matches of whole strings only. Errors: kInvalidModel (not in RE2's
// syntax), kUnsupported (patterns that are too long or nested too deeply).
Result<Pattern> parse_pattern(std::string_view text);

}  // namespace scopevm::compiler::frontend
