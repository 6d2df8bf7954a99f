// The reports that the files of this folder add.
#include "compiler/explain/report.h"

#include <algorithm>
#include <vector>

namespace scopevm::compiler::explain {
namespace {

std::vector<ReportKind>& kinds() {
  static std::vector<ReportKind> kinds;
  return kinds;
}

}  // namespace

void add_report(const ReportKind& kind) { kinds().push_back(kind); }

Result<ReportKind> find_report(std::string_view kind) {
  const auto found = std::ranges::find(kinds(), kind, &ReportKind::name);
  if (found != kinds().end()) return *found;
  return Status(StatusCode::kInvalidArgument, "unknown report \"" + std::string(kind) + "\"");
}

}  // namespace scopevm::compiler::explain
