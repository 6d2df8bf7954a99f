// The report of scopevm explain --time.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/count_text.h"
#include "tools/compile/reports/report.h"
#include "tools/files/json_output.h"
#include "tools/files/standard_streams.h"

namespace scopevm::tool {
namespace {

using nlohmann::ordered_json;
using runtime::count_text;

constexpr double kMilliseconds = 1e3;

// "n = 4, m = 64 (representative), 1 thread".
std::string request_text(const TimeExplanation& explanation) {
  std::string text;
  for (const auto& [name, size] : explanation.dims) {
    const bool is_assumed =
        std::ranges::find(explanation.assumed, name) != explanation.assumed.end();
    text += fmt::format("{} = {}{}, ", name, size, is_assumed ? " (representative)" : "");
  }
  return text + count_text(explanation.threads, "thread");
}

void print_text(const TimeExplanation& explanation) {
  for (const std::string& warning : explanation.warnings)
    print_message(stderr, "scopevm: warning: {}\n", warning);
  print("{}\n", request_text(explanation));
  print("{:<8} {:>9} {:>14} {:>14} {:>14} {:>14}\n", "rank", "launches", "launches, ms",
        "copies, ms", "waits, ms", "all, ms");
  for (size_t i = 0; i < explanation.ranks.size(); ++i) {
    const TimeExplanation::Rank& rank = explanation.ranks[i];
    print("{:<8} {:>9} {:>14.4f} {:>14.4f} {:>14.4f} {:>14.4f}\n", i, rank.launches,
          kMilliseconds * rank.launch_seconds, kMilliseconds * rank.copy_seconds,
          kMilliseconds * rank.wait_seconds, kMilliseconds * rank.seconds);
  }
  if (!explanation.links.empty())
    print("{:<8} {:>9} {:>14} {:>14}\n", "link", "messages", "bytes", "busy, ms");
  for (const TimeExplanation::Link& link : explanation.links)
    print("{:<8} {:>9} {:>14} {:>14.4f}\n", fmt::format("{} -> {}", link.from, link.to),
          link.messages, link.bytes, kMilliseconds * link.seconds);
  print("a request takes {:.4f} ms, without the time of computation\n",
        kMilliseconds * explanation.seconds);
}

void print_json(const TimeExplanation& explanation) {
  ordered_json out{{"seconds", explanation.seconds},
                   {"dims", explanation.dims},
                   {"representative_dims", explanation.assumed},
                   {"threads", explanation.threads},
                   {"ranks", ordered_json::array()},
                   {"links", ordered_json::array()}};
  for (const TimeExplanation::Rank& rank : explanation.ranks)
    out["ranks"].push_back({{"seconds", rank.seconds},
                            {"launches", rank.launches},
                            {"launch_seconds", rank.launch_seconds},
                            {"copy_seconds", rank.copy_seconds},
                            {"wait_seconds", rank.wait_seconds}});
  for (const TimeExplanation::Link& link : explanation.links)
    out["links"].push_back({{"from", link.from},
                            {"to", link.to},
                            {"messages", link.messages},
                            {"bytes", link.bytes},
                            {"seconds", link.seconds}});
  out["warnings"] = explanation.warnings;
  write_json(out);
}

const RegisteredReport time_report(Form<TimeExplanation>{
    .position = 42,
    .description = "Print the predicted time of a request, by rank and link, "
                   "of memory accesses, copies and messages",
    .text = print_text,
    .json = print_json,
    .is_tuned = true,
    .has_request = true});

}  // namespace
}  // namespace scopevm::tool
