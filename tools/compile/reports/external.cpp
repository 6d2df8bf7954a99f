// The report of scopevm explain --external.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/count_text.h"
#include "tools/compile/reports/report.h"
#include "tools/compile/tuning/tuning.h"
#include "tools/files/json_output.h"
#include "tools/files/standard_streams.h"

namespace scopevm::tool {
namespace {

using runtime::count_text;
using Part = ExternalExplanation::Part;

void print_warnings(const ExternalExplanation& explanation) {
  for (const std::string& warning : explanation.warnings)
    print_message(stderr, "scopevm: warning: {}\n", warning);
}

void print_text(const ExternalExplanation& explanation) {
  print_warnings(explanation);
  for (const Part& part : explanation.parts) {
    std::string result = part.is_taken ? fmt::format("taken, workspace {}", part.workspace)
                                       : fmt::format("not taken: {}", part.reason);
    if (part.seconds)
      result += fmt::format(" ({} {:.3g} ms, scopevm {:.3g} ms)", part.library,
                            1e3 * part.seconds->library, 1e3 * part.seconds->own);
    print("{} ({}), {}: {}\n    {}\n", part.function, fmt::join(part.patterns, ", "),
          count_text(part.calls, "call"), result, fmt::join(part.ops, ", "));
  }
  const auto taken = std::ranges::count_if(explanation.parts, &Part::is_taken);
  print("{} of {} taken\n", taken, count_text(explanation.parts.size(), "part"));
  if (!explanation.tuned.empty())
    print("models with external functions: {}\n", text_of(explanation.tuned));
}

void print_json(const ExternalExplanation& explanation) {
  print_warnings(explanation);
  nlohmann::ordered_json out{{"parts", nlohmann::ordered_json::array()}};
  for (const Part& part : explanation.parts) {
    nlohmann::ordered_json& item = out["parts"].emplace_back();
    item = {{"function", part.function}, {"library", part.library}, {"patterns", part.patterns},
            {"ops", part.ops},           {"calls", part.calls},     {"is_taken", part.is_taken}};
    if (part.is_taken)
      item["workspace"] = part.workspace;
    else
      item["reason"] = part.reason;
    if (part.seconds)
      item["seconds"] = {{"library", part.seconds->library}, {"own", part.seconds->own}};
  }
  for (const TunedModel& model : explanation.tuned)
    out["models"].push_back({{"functions", model.functions},
                             {"seconds", model.seconds},
                             {"is_chosen", model.is_chosen}});
  write_json(out);
}

const RegisteredReport external_report(Form<ExternalExplanation>{
    .position = 50, .text = print_text, .json = print_json, .is_tuned = true});

}  // namespace
}  // namespace scopevm::tool
