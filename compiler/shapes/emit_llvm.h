// Compiles a shape program to native code.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/shapes/shape_program.h"

namespace llvm {
class Module;
}

namespace scopevm::compiler {

// Adds a function `symbol` of type ShapeFn (scopevm/kernel_abi.h) for one segment to `module`. It
// stores every slot of the segment, even if a check fails. It returns the position in
// conditions_of(segment) of the first failed check whose operands precede any overflow, or -1. The
// position after the last condition means overflow, and is returned only if no such check failed.
// Segments after the first take no dims and read the slots that earlier segments stored.
void emit_shape_function(const ShapeProgram& program, SegmentIndex segment, std::string_view symbol,
                         llvm::Module& module);

// Adds an exported 64-bit constant to `module`.
void emit_number(std::string_view symbol, uint64_t value, llvm::Module& module);

}  // namespace scopevm::compiler
