// The diagnostics of a call of the compiler.
#pragma once

#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::compiler {

// Collects the diagnostics of a call, and passes them to CompileOptions::diagnose at its end.
class Diagnostics {
 public:
  explicit Diagnostics(const CompileOptions& given);
  Diagnostics(const Diagnostics&) = delete;
  Diagnostics& operator=(const Diagnostics&) = delete;

  // The options of the call, for the stages.
  CompileOptions options;

  // The call failed.
  void report_error(const Status& status) const;
  // The call succeeded.
  void report_warnings(const std::vector<std::string>& warnings) const;

 private:
  // A diagnostic without a line. The message can begin with the name of a file.
  Diagnostic make(Diagnostic::Severity severity, std::string_view message) const;

  const CompileOptions& given_;
  std::vector<Diagnostic> errors_;  // with their locations
};

}  // namespace scopevm::compiler
