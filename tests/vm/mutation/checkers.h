// Kernels that access exactly the bytes that their launches declare.
#pragma once

#include <cstddef>
#include <vector>

#include "scopevm/c/external.h"
#include "vm/load/loaded_module.h"

namespace scopevm::test {

// The most launches of a module for which there are checkers.
inline constexpr size_t kMostLaunches = 64;

// Gives each launch a kernel of its own, so that a checker knows its launch. Returns false if the
// module has more than kMostLaunches.
bool separate_kernels(format::ModuleContents& module);

// One checker per launch of a module with separate kernels, which must outlive the checkers. A
// checker reads every byte of the buffers that the kernel reads, and writes every byte of the
// others. If `and_run`, it then calls the kernel of `table`. Ends the program if the bytes of a
// buffer are negative. There is one set of checkers in the process.
std::vector<KernelFn> checkers_of(const format::ModuleContents& module,
                                  const vm::KernelTable& table, bool and_run);

// One library for each that the module names. Its functions read every element of their operands,
// and write every element of their results and every byte of their workspace. The module must
// outlive the libraries.
std::vector<scopevm_external_library> external_checkers(const format::ModuleContents& module);

}  // namespace scopevm::test
