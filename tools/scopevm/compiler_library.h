// Loads libscopevm_compiler on first use, so that commands that do not compile start without
// LLVM.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/compiler_table.h"

namespace scopevm::tool {

// A CompileOutput whose module is owned by the library.
struct CompiledModule {
  std::span<const uint8_t> module;  // valid as long as `owner`
  std::shared_ptr<scopevm_compiler_result> owner;
  std::vector<StageTime> times;
  std::vector<TunedModel> tuned;
  std::vector<TunedConvolution> convolutions;
  std::vector<std::string> warnings;
};

// The functions of scopevm/compiler.h, forwarded to the library. The library is never unloaded,
// because LLVM does not support unloading.
class CompilerLibrary {
 public:
  // Searches the folder of this program (build trees) and the library folders of its installation
  // prefix: lib, lib64 and the multiarch folder (lib/x86_64-linux-gnu). Errors: kNotFound (no
  // library found), kUnsupported (wrong version, or loading failed).
  static Result<CompilerLibrary> load();

  Result<CompiledModule> compile(const CompileOptions& options) const;
  Result<ShapeExplanation> explain_shapes(const CompileOptions& options) const;
  Result<CopyExplanation> explain_copies(const CompileOptions& options) const;
  Result<ExternalExplanation> explain_external(const CompileOptions& options) const;
  Result<LayoutExplanation> explain_layout(const CompileOptions& options) const;
  Result<MemoryExplanation> explain_memory(const CompileOptions& options) const;

 private:
  explicit CompilerLibrary(const scopevm_compiler_table* table) : table_(table) {}

  const scopevm_compiler_table* table_;
};

}  // namespace scopevm::tool
