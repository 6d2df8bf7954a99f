// Code generation for CPUs: a kernels module and shape functions -> one ELF shared object.
//   target.cpp         CPU name -> Target and the CPU features that an image needs
//   to_llvm.cpp        kernels in arith, math, scf, vector, memref -> LLVM IR with KernelFn entries
//   math_patterns.cpp  math functions of f32, and conversions of f16 -> arithmetic
//   stop_checks/       ends long loops early if the call is interrupted
//   native.cpp         LLVM IR -> optimised object file
//   link.cpp           object files -> shared object (lld)
//   image.cpp          runs the steps, with kernels in parallel
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/program/program.h"
#include "scopevm/status.h"

namespace llvm {
class Module;
}
namespace mlir {
class ModuleOp;
}

namespace scopevm::compiler::schedule {
struct Target;
}

namespace scopevm::compiler::codegen {

// Describes a CPU that kernels are compiled for. `text` is "host" or an LLVM CPU name, optionally
// followed by feature changes: "x86-64-v3,+avxvnni". Errors: kInvalidArgument for names that LLVM
// does not know.
Result<schedule::Target> make_target(std::string_view text);

// The CPU features that the target's code may use, as spelled in /proc/cpuinfo, in a fixed order.
std::vector<std::string> required_features(const schedule::Target& target);

struct ImageOptions {
  int threads = 1;  // objects compiled in parallel; the bytes do not depend on it
  // Adds more functions to the image (shape functions). Called once, on an empty module. May be
  // empty.
  std::function<void(llvm::Module&)> add_functions;
  std::function<void(int64_t done, int64_t total)> progress;  // may be empty
  // Changes the LLVM IR of kernels before it is optimised, for tests that count what kernels
  // execute. May be empty. Called by all threads.
  std::function<void(llvm::Module&)> instrument;
  std::stop_token stop_token;  // checked before each part of the kernels is compiled
};

// Compiles every kernel of `kernels` and removes it from the module. The image exports one KernelFn
// per entry of `table`, and the functions with external linkage that add_functions added. Errors:
// kCancelled.
Result<std::vector<uint8_t>> compile_image(mlir::ModuleOp kernels, const std::vector<Kernel>& table,
                                           const schedule::Target& target,
                                           const ImageOptions& options);

}  // namespace scopevm::compiler::codegen
