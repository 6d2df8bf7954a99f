// Loads libscopevm_compiler on first use, so that commands that do not compile start without
// LLVM.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/interface/messages.h"
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
  template <typename Report>
  Result<Report> explain(const CompileOptions& options) const {
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> report,
                             encoded_report(std::string(Report::kKind), options));
    return compiler::decode<Report>(report);
  }

 private:
  explicit CompilerLibrary(const scopevm_compiler_table* table) : table_(table) {}

  Result<std::vector<uint8_t>> encoded_report(const std::string& kind,
                                              const CompileOptions& options) const;

  const scopevm_compiler_table* table_;
};

}  // namespace scopevm::tool
