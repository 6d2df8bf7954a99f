// A shape program as native code.
#pragma once

#include <string_view>

#include "compiler/shapes/program/shape_program.h"

namespace llvm {
class Module;
}

namespace scopevm::compiler {

// Adds a function `symbol` of the form ShapeFn (scopevm/kernel_abi.h) for one stage to `module`. It
// stores every slot of the stage, also when a check fails, and returns the first failed one's place
// in conditions_of(stage), or -1; overflow comes behind the last condition, reported when no other
// check failed. Stages after the first take no dims, and read what earlier ones stored.
void emit_shape_function(const ShapeProgram& program, int stage, std::string_view symbol,
                         llvm::Module& module);

}  // namespace scopevm::compiler
