// What code generation has to know of a module's target: attributes of the module op.
#pragma once

namespace scopevm::compiler::kernels {

// There are instructions between f16 and f32: every CPU with AVX2 has them (make_target makes
// sure).
inline constexpr char kHasF16c[] = "sv.has_f16c";

}  // namespace scopevm::compiler::kernels
