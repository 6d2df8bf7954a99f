// libscopevm_compiler.so, which only the commands that need the compiler load: the others start
// without LLVM.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/compiler_table.h"

namespace scopevm::tool {

// A CompileOutput whose module stays the library's.
struct CompiledModule {
  std::span<const uint8_t> module;  // valid as long as `owner`
  std::shared_ptr<scopevm_compiler_result> owner;
  std::vector<StageTime> times;
  std::vector<std::string> warnings;
};

// The functions of scopevm/compiler.h, called in the library. The library is never unloaded: LLVM
// does not expect to be.
class CompilerLibrary {
 public:
  // Looks for the library in the folder of this program, where a build tree may have it, and in the
  // library folders of the prefix that the program is installed in: lib, lib64 and the multiarch
  // folder (lib/x86_64-linux-gnu). Errors: kNotFound (none is there), kUnsupported (it is of
  // another version, or does not load).
  static Result<CompilerLibrary> load();

  Result<CompiledModule> compile(const CompileOptions& options) const;
  Result<ShapeExplanation> explain_shapes(const CompileOptions& options) const;
  Result<CopyExplanation> explain_copies(const CompileOptions& options) const;

 private:
  explicit CompilerLibrary(const scopevm_compiler_table* table) : table_(table) {}

  const scopevm_compiler_table* table_;
};

}  // namespace scopevm::tool
