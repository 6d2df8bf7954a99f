// The steps of compile_image. Private to this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/program/program.h"
#include "llvm/ADT/StringMap.h"
#include "scopevm/status.h"

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
}  // namespace llvm
namespace mlir {
class ModuleOp;
}

namespace scopevm::compiler::schedule {
struct Target;
}

namespace scopevm::compiler::codegen {

// The TargetMachine for a target of make_target(). Null if LLVM has no x86 back end.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const schedule::Target& target);

// Lowers `kernels` in place and translates it. Each function named in `entries` becomes a KernelFn
// of that name; everything else becomes internal.
Result<std::unique_ptr<llvm::Module>> to_llvm(mlir::ModuleOp kernels,
                                              const llvm::StringMap<Kernel>& entries,
                                              llvm::LLVMContext& context);

// Optimises and compiles; returns the bytes of an object file. Errors: kInternal, also if the local
// buffers of a function together take more than `max_stack_bytes`; kCancelled before the next pass
// of the optimiser.
Result<std::string> compile_object(llvm::Module& module, llvm::TargetMachine& machine,
                                   int64_t max_stack_bytes, const std::stop_token& stop_token);

// Links objects, in order, into a shared object. Serialised by a lock, since lld has global state.
Result<std::vector<uint8_t>> link_shared(const std::vector<std::string>& objects);

}  // namespace scopevm::compiler::codegen
