// Prints copies and their reasons.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

#include "runtime/count_text.h"
#include "tools/compile/reports/report.h"
#include "tools/compile/reports/svg/places_svg.h"
#include "tools/files/formulas.h"
#include "tools/files/json_output.h"
#include "tools/files/standard_streams.h"

namespace scopevm::tool {
namespace {

using nlohmann::ordered_json;
using runtime::count_text;

std::string value_text(const CopyExplanation::Copy& copy) {
  return fmt::format("{}\"{}\"", copy.function.empty() ? "" : "in " + copy.function + ": ",
                     copy.value);
}

std::string bytes_text(const CopyExplanation::Copy& copy) {
  std::string formula = copy.formula + (copy.formula == "1" ? " byte" : " bytes");
  if (copy.has_own_dims) formula += fmt::format(" (dims of {})", copy.function);
  if (!copy.bytes || std::to_string(*copy.bytes) == copy.formula) return formula;
  return fmt::format("{} = {}", formula, *copy.bytes);
}

void print_limits(const CopyExplanation& explanation) {
  for (const CopyExplanation::Limit& limit : explanation.limits) {
    print(
        "{} is limited to {}; without spilling, {} are live there. Moves and spills "
        "cost {:.3f} ms per call (lower bound {:.3f} ms):\n",
        limit.pool, count_text(limit.limit_bytes, "byte"), count_text(limit.needed_bytes, "byte"),
        1e3 * limit.seconds, 1e3 * limit.lower_bound_seconds);
    for (const std::string& moved : limit.moved) print("    {}\n", moved);
    // Calls of one function at different dims have the same copies: print each copy once.
    std::set<std::string> lines;
    for (const CopyExplanation::Copy& copy : explanation.copies) {
      const std::string line = fmt::format("    {}, spilled to {}", value_text(copy), copy.to);
      if (copy.from == limit.pool && copy.is_spill && lines.insert(line).second)
        print("{}\n", line);
    }
  }
}

std::string times_text(const CopyExplanation::Copy& copy) {
  if (!copy.times_depend_on.empty())
    return fmt::format(", {}-dependent count", copy.times_depend_on);
  return copy.times > 1 ? fmt::format(", about {:.0f} times per call", copy.times) : "";
}

// Summarises the copies: "2 copies, 8 bytes each time, 2 with recursion-dependent count".
std::string copies_text(const std::vector<CopyExplanation::Copy>& copies) {
  std::optional<int64_t> total = 0;
  bool repeats = false;
  std::map<std::string, int> open;  // number of copies, by the reason why their count is unknown
  for (const CopyExplanation::Copy& copy : copies) {
    repeats = repeats || copy.times > 1 || !copy.times_depend_on.empty();
    if (!copy.times_depend_on.empty()) ++open[copy.times_depend_on];
    total = total && copy.bytes ? std::optional(*total + *copy.bytes) : std::nullopt;
  }
  std::string text = fmt::format("{} {}", copies.size(), copies.size() == 1 ? "copy" : "copies");
  if (total) text += fmt::format(", {}{}", count_text(*total, "byte"), repeats ? " each time" : "");
  for (const auto& [why, count] : open)
    text += fmt::format(", {} with {}-dependent count", count, why);
  return text;
}

void print_text(const CopyExplanation& explanation) {
  for (const std::string& warning : explanation.warnings)
    print_message(stderr, "scopevm: warning: {}\n", warning);
  for (const CopyExplanation::Copy& copy : explanation.copies) {
    print("{}  {} -> {}  {}{}\n", value_text(copy), copy.from, copy.to, bytes_text(copy),
          times_text(copy));
    print_definitions("    where ", copy.definitions);
    print("    {}\n    {}\n", copy.producer_reason, copy.consumer_reason);
  }
  print_limits(explanation);
  for (const std::string& note : explanation.notes) print("note: {}\n", note);
  print("{}{}\n", copies_text(explanation.copies),
        !explanation.is_proved       ? "; the cheapest placement found, not proved optimal"
        : explanation.limits.empty() ? "; the placement is optimal"
                                     : "; without the limits, the placement is optimal");
}

void print_json(const CopyExplanation& explanation) {
  ordered_json out{{"copies", ordered_json::array()},
                   {"seconds", explanation.seconds},
                   {"is_proved", explanation.is_proved}};
  for (const CopyExplanation::Copy& copy : explanation.copies) {
    ordered_json& line = out["copies"].emplace_back(ordered_json{
        {"value", copy.value}, {"from", copy.from}, {"to", copy.to}, {"formula", copy.formula}});
    line["definitions"] = definitions_json(copy.definitions);
    if (!copy.function.empty()) line["function"] = copy.function;
    if (copy.has_own_dims) line["has_own_dims"] = true;
    if (copy.bytes) line["bytes"] = *copy.bytes;
    if (copy.times_depend_on.empty())
      line["times"] = copy.times;
    else
      line["times_depend_on"] = copy.times_depend_on;
    if (copy.bytes) line["seconds"] = copy.seconds;
    line["producer_reason"] = copy.producer_reason;
    line["consumer_reason"] = copy.consumer_reason;
    if (copy.is_spill) line["is_spill"] = true;
  }
  for (const CopyExplanation::Limit& limit : explanation.limits)
    out["limits"].push_back({{"pool", limit.pool},
                             {"limit_bytes", limit.limit_bytes},
                             {"needed_bytes", limit.needed_bytes},
                             {"moved", limit.moved},
                             {"seconds", limit.seconds},
                             {"lower_bound_seconds", limit.lower_bound_seconds}});
  out["notes"] = explanation.notes;
  out["warnings"] = explanation.warnings;
  write_json(out);
}

const RegisteredReport copies_report(Form<CopyExplanation>{
    .position = 20,
    .description = "Print each copy between places: its bytes, source, destination and reason",
    .text = print_text,
    .json = print_json,
    .svg = places_svg});

}  // namespace
}  // namespace scopevm::tool
