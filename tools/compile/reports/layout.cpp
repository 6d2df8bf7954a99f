// The report of scopevm explain --layout.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/count_text.h"
#include "tools/compile/reports/report.h"
#include "tools/compile/tuning/tuning.h"
#include "tools/files/formulas.h"
#include "tools/files/json_output.h"
#include "tools/files/standard_streams.h"

namespace scopevm::tool {
namespace {

using runtime::count_text;

const char* layout_text(bool is_blocked) { return is_blocked ? "blocked" : "by channel"; }

std::string time_text(double seconds) { return fmt::format("{:.4g} us", 1e6 * seconds); }

void print_text(const LayoutExplanation& explanation) {
  for (const std::string& warning : explanation.warnings)
    print_message(stderr, "scopevm: warning: {}\n", warning);
  for (const LayoutExplanation::Op& op : explanation.ops) {
    print("{:<10}  {} {}  {}, {} {}{}{}\n", layout_text(op.is_blocked), op.kind, op.name,
          time_text(op.seconds), layout_text(!op.is_blocked), time_text(op.other_seconds),
          op.is_measured ? " (measured)" : "",
          op.kernel_of.empty() ? "" : "; in the kernel of " + op.kernel_of);
    if (!op.forms.empty()) print("    blocked: {}\n", text_of(op.forms));
    if (!op.schedule.empty()) print("    schedule: {}\n", op.schedule);
  }
  for (const LayoutExplanation::Conversion& conversion : explanation.conversions) {
    print("conversion of {} to {}  {} bytes, {}\n", conversion.value,
          layout_text(conversion.to_blocked), conversion.formula, time_text(conversion.seconds));
    print_definitions("    where ", conversion.definitions);
  }
  const auto blocked = std::ranges::count_if(explanation.ops, &LayoutExplanation::Op::is_blocked);
  print("{} of {} with blocked images, {}\n", blocked, count_text(explanation.ops.size(), "op"),
        count_text(explanation.conversions.size(), "conversion"));
}

void print_json(const LayoutExplanation& explanation) {
  nlohmann::ordered_json out{{"ops", nlohmann::ordered_json::array()},
                             {"conversions", nlohmann::ordered_json::array()},
                             {"warnings", explanation.warnings}};
  for (const LayoutExplanation::Op& op : explanation.ops) {
    nlohmann::ordered_json& item = out["ops"].emplace_back();
    item = {{"name", op.name},
            {"kind", op.kind},
            {"is_blocked", op.is_blocked},
            {"seconds", op.seconds},
            {"other_seconds", op.other_seconds},
            {"is_measured", op.is_measured}};
    if (!op.kernel_of.empty()) item["kernel_of"] = op.kernel_of;
    if (!op.schedule.empty()) item["schedule"] = op.schedule;
    for (const MeasuredForm& form : op.forms)
      item["forms"].push_back(
          {{"name", form.name}, {"seconds", form.seconds}, {"is_chosen", form.is_chosen}});
  }
  for (const LayoutExplanation::Conversion& conversion : explanation.conversions)
    out["conversions"].push_back({{"value", conversion.value},
                                  {"to_blocked", conversion.to_blocked},
                                  {"formula", conversion.formula},
                                  {"definitions", definitions_json(conversion.definitions)},
                                  {"seconds", conversion.seconds}});
  write_json(out);
}

const RegisteredReport layout_report(Form<LayoutExplanation>{
    .position = 30,
    .description = "Print the layout of the images of each op, and each conversion",
    .text = print_text,
    .json = print_json,
    .is_tuned = true});

}  // namespace
}  // namespace scopevm::tool
