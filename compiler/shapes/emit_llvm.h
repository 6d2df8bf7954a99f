// A shape program as native code.
#pragma once

#include <string_view>

#include "compiler/shapes/shape_program.h"

namespace llvm {
class Module;
}

namespace scopevm {

// Adds a function `symbol` of the form ShapeFn (scopevm/kernel_abi.h) to `module`. It stores every
// slot, also when a check fails, and returns the first failed check's index or -1; overflow is
// check conditions().size(), reported when no other check failed.
void emit_shape_function(const ShapeProgram& program, std::string_view symbol,
                         llvm::Module& module);

}  // namespace scopevm
