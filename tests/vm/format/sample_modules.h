// Hand-written modules that the tests of the module format write, corrupt, verify and print, and a
// comparison of modules.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "vm/format/schema/module_contents.h"

namespace scopevm::format {

// main(x: f32[n, 8]) -> y: f32[n, 4]: one launch with x, a constant and a temporary in a workspace.
// Passes verification.
ModuleContents dense_module();

// Contains a branch with a merge point, a loop, a call of the second function and a copy between
// two devices. Also contains a view, lists, closures, and names that need quotes. Passes
// verification.
ModuleContents branching_module();
// dense_module() with a variant for n=1.
ModuleContents variant_module();

// main(x: str[n]) -> y: str[n]: parses the numbers in x, formats them and changes the result to
// upper case. Contains a string constant and all opcodes on strings. Passes verification.
ModuleContents string_module();

// main(x: f32[16]) -> y: f32[16]: copies x to main's frame and passes the copy to a function, which
// copies it to the result. Passes verification.
ModuleContents stack_module();

// main(x: f32[n, 8], b: f32[8]) -> y: f32[n, 8]: one call of an external function with a workspace.
// Passes verification.
ModuleContents external_module();

Bytes bytes_of(std::string_view text);

// Whether all fields of two modules are equal, including the bytes of constants and images.
bool are_equal(const ModuleContents& a, const ModuleContents& b);

}  // namespace scopevm::format
