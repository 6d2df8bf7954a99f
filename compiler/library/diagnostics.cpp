// Collects the diagnostics of a call; see diagnostics.h.
#include "compiler/library/diagnostics.h"

#include "runtime/quoted.h"

namespace scopevm::compiler {

Diagnostics::Diagnostics(const CompileOptions& given) : options(given), given_(given) {
  if (options.model_bytes && options.model_path.empty()) options.model_path = "model";
  options.diagnose = [this](const Diagnostic& error) { errors_.push_back(error); };
}

Diagnostic Diagnostics::make(Diagnostic::Severity severity, std::string_view message) const {
  Diagnostic made{.severity = severity};
  for (const std::string& file :
       {options.model_path, options.machine_name, options.external_functions_name}) {
    if (file.empty() || !message.starts_with(file + ": ")) continue;
    made.file = file;
    message.remove_prefix(file.size() + 2);
    break;
  }
  made.text = runtime::escaped(message, "\n");
  return made;
}

void Diagnostics::report_error(const Status& status) const {
  if (!given_.diagnose) return;
  bool is_reported = false;
  for (const Diagnostic& error : errors_) {
    // The compilation can continue after the failure of an attempt.
    if (status.message().find(error.text) == std::string_view::npos) continue;
    Diagnostic reported = error;
    reported.text = runtime::escaped(error.text, "\n");
    given_.diagnose(reported);
    is_reported = true;
  }
  if (!is_reported) given_.diagnose(make(Diagnostic::Severity::kError, status.message()));
}

void Diagnostics::report_warnings(const std::vector<std::string>& warnings) const {
  if (!given_.diagnose) return;
  for (const std::string& warning : warnings)
    given_.diagnose(make(Diagnostic::Severity::kWarning, warning));
}

}  // namespace scopevm::compiler
