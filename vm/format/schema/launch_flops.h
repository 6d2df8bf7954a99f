// The optional section `flops`: the floating-point operations of launches, as formulas of the dims
// of their function. Reports use them; the VM does not. A line of the section is
//   FUNCTION WORD FORMULA
// with the index of the function, the first word of the launch in its code, and a formula
// (formula.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vm/format/schema/module_contents.h"

namespace scopevm::format {

inline constexpr char kFlopsSection[] = "flops";

struct LaunchFlops {
  uint32_t function = 0;
  uint32_t word = 0;
  std::string formula;
};

// The contents of the section.
std::string flops_text(std::span<const LaunchFlops> launches);

// The lines of the module's section, in its order; empty if there is no section. Lines that are
// damaged are omitted: those with an unknown function, a word where no launch begins, or an invalid
// formula.
std::vector<LaunchFlops> read_flops(const ModuleContents& module);

}  // namespace scopevm::format
