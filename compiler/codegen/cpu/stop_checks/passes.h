// Passes that let kernels end early. A kernel whose call is interrupted (StopCheck of
// scopevm/kernel_abi.h) returns after at most about half a millisecond. The passes guarantee this
// for every loop, so the generators of kernels emit plain loops.
//
//   work.cpp          estimates the work of ops, and the iterations of loops
//   add_checks.cpp    adds checks to loops that can be long
//   return_early.cpp  lets functions return after a check that tells them to stop
#pragma once

#include <memory>

namespace mlir {
class Pass;
}

namespace scopevm::compiler::codegen {

// A function without parameters that returns whether the kernel must stop, as i1. The back end
// defines it.
inline constexpr char kIsStopped[] = "is_stopped";

// Adds calls of kIsStopped to functions in scf. Divides long loops into parts, with a call after
// each part. The results of the calls are not used yet. REQUIRES: no recursion.
std::unique_ptr<mlir::Pass> create_add_stop_checks_pass();

// After the conversion of scf to cf: a function returns if a call of kIsStopped returns true.
std::unique_ptr<mlir::Pass> create_return_early_pass();

}  // namespace scopevm::compiler::codegen
