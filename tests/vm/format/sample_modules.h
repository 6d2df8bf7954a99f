// Hand-written modules that the tests of the format write, corrupt, verify and print.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "vm/format/module_contents.h"

namespace scopevm::format {

// main(x: f32[n, 8]) -> y: f32[n, 4]: one launch with x, a constant and a temporary in a workspace.
// Passes verification.
ModuleContents dense_module();

// All opcodes that the other modules do not have: a branch with a merge point, a loop, a call of
// the second function, a copy between two devices, a view, and names that need quotes. Passes
// verification.
ModuleContents branching_module();
// dense_module() with a variant for n=1.
ModuleContents variant_module();

// main(x: str[n]) -> y: str[n]: parses the numbers in x and formats them again, in upper case; has
// a string constant. Contains all opcodes on strings. Passes verification.
ModuleContents string_module();

// main(x: f32[16]) -> y: f32[16]: copies x to main's frame, passes it to a function, and copies it
// from the frame to the result. Passes verification.
ModuleContents stack_module();

Bytes bytes_of(std::string_view text);

// Compares every field, constants and images by their bytes.
bool are_equal(const ModuleContents& a, const ModuleContents& b);

}  // namespace scopevm::format
