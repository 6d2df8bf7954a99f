// Modules made by hand: what the tests of the format write, damage, verify and print.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "vm/format/module_contents.h"

namespace scopevm::format {

// main(x: f32[n, 8]) -> y: f32[n, 4]: one launch over x, a constant and a temporary in a workspace.
// Verifies.
ModuleContents dense_module();

// Every opcode but those of the other modules: a branch with two ways that meet, a loop, a call of
// "main"'s second function, a copy between two devices, a view, and names that need quotes.
// Verifies.
ModuleContents branching_module();
// dense_module() with a variant for n=1.
ModuleContents variant_module();

// main(x: str[n]) -> y: str[n]: numbers in x read and written again, in upper case; a constant of
// texts. The opcodes on texts. Verifies.
ModuleContents text_module();

// main(x: f32[16]) -> y: f32[16]: x copied to main's frame, passed to a function, and copied from
// there to the result. Verifies.
ModuleContents stack_module();

Bytes bytes_of(std::string_view text);

// Compares every field; constants and images by their bytes.
bool are_equal(const ModuleContents& a, const ModuleContents& b);

}  // namespace scopevm::format
