// The breakpoints of the debugger.
#pragma once

#include <cstdint>
#include <string>

#include "tools/execution/code_map.h"
#include "tools/scopevm/commands/debug/inspector.h"

namespace scopevm::tool {

struct Breakpoint {
  enum class Kind : uint8_t {
    kPlace,      // before an instruction
    kOp,         // before an instruction of an op of the model
    kKernel,     // before a launch of a kernel or external function
    kOpcode,     // before an instruction with this opcode
    kCondition,  // when a comparison becomes true
    kNan,        // after an instruction that has written a NaN
    kInfinity,   // after an instruction that has written an infinity
  };
  Kind kind = Kind::kPlace;
  std::string text = {};  // as given
  InstructionPlace place = {};
  std::string name = {};  // of the op, kernel or opcode
  // Of a comparison: its sides are formulas of Inspector::evaluate().
  std::string left = {}, comparison = {}, right = {};
  bool was_true = false;  // the comparison, in the last state

  // Whether the breakpoint is after an instruction that writes tensors.
  bool is_of_elements() const { return kind == Kind::kNan || kind == Kind::kInfinity; }
};

// Parses what follows `break`: "main:36", "op NAME", "kernel NAME", "opcode NAME", "if n > 4",
// "nan" or "inf". Names match ops and kernels that contain them. Errors: kInvalidArgument (a
// malformed breakpoint; no instruction has this place or name).
Result<Breakpoint> parse_breakpoint(const std::string& text, const CodeMap& code);

// Whether the run stops in this state. Not for breakpoints of elements.
bool is_reached(Breakpoint& breakpoint, const ExecutionState& state, const CodeMap& code,
                const Inspector& inspector);

}  // namespace scopevm::tool
