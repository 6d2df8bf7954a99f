// A shape program as native code.
#pragma once

#include <string_view>

#include "compiler/shapes/program/shape_program.h"

namespace llvm {
class Module;
}

namespace scopevm::compiler {

// Adds a function `symbol` of the form ShapeFn (scopevm/kernel_abi.h) for one segment to
// `module`. It stores every slot of the segment, also when a check fails, and returns the position
// of the first failed one in conditions_of(segment), or -1. Overflow has the position after the
// last condition: it is reported if no other check failed. Segments after the first take no dims,
// and read the slots that earlier ones stored.
void emit_shape_function(const ShapeProgram& program, SegmentIndex segment, std::string_view symbol,
                         llvm::Module& module);

}  // namespace scopevm::compiler
