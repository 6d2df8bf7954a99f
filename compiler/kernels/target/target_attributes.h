// Attributes of a kernel module op, which describe its target to code generation.
#pragma once

namespace scopevm::compiler::kernels {

// The target has instructions that convert between f16 and f32. Modules for vectors of 256 bits or
// more have this attribute: make_target selects such vectors only for CPUs with these instructions.
// The OpenCL back end does not read the attribute.
inline constexpr char kHasF16c[] = "sv.has_f16c";

}  // namespace scopevm::compiler::kernels
