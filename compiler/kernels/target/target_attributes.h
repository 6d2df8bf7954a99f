// Attributes of the module op that describe its target to code generation.
#pragma once

namespace scopevm::compiler::kernels {

// The target has instructions that convert between f16 and f32. make_target selects vectors of 256
// bits or more only for CPUs that have them.
inline constexpr char kHasF16c[] = "sv.has_f16c";

}  // namespace scopevm::compiler::kernels
