// Declares and evaluates the options of replays; see replay_options.h.
#include "tools/lab/replay/replay_options.h"

#include <fmt/format.h>

#include <charconv>
#include <numeric>

#include "runtime/count_text.h"

namespace scopevm::lab {
namespace {

// Returns the message for an invalid value of --time-limit. The worker counts milliseconds.
std::string is_time_limit(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end && value > 0 && value <= 1e6) return "";
  return "\"" + text + "\": expected a number of seconds above 0 and at most 1e6";
}

std::string known_allocators() {
  std::string names;
  for (const AllocatorEntry& entry : allocator_entries())
    names += (names.empty() ? "" : ", ") + entry.name;
  return names;
}

}  // namespace

void add_replay_options(CLI::App& command, ReplaySelection& selection,
                        const std::string& otherwise) {
  command.add_option("FILE", selection.trace, "Memory trace")->required();
  command
      .add_option(
          "--allocator", selection.allocators,
          "Allocator: all, " + known_allocators() + " (one per option; default: " + otherwise + ")")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_flag(
      "--threads", selection.options.has_threads,
      "Execute the operations of each thread of the trace in a thread; default: all in "
      "one thread, in the order of time");
  command.add_flag("!--no-touch", selection.options.touches_pages,
                   "Do not write to the pages of allocated blocks");
  command.add_flag("--mappings", selection.has_mappings,
                   "Also allocate the anonymous mappings of the recorded program: scope mmap");
  command
      .add_option("--time-limit", selection.options.time_limit_s,
                  "Time limit of each replay in seconds")
      ->check(is_time_limit)
      ->type_name("S")
      ->capture_default_str();
}

Result<std::vector<AllocatorEntry>> selected_allocators(const ReplaySelection& selection) {
  std::vector<AllocatorEntry> entries;
  for (const std::string& name : selection.allocators) {
    if (name == "all") {
      const auto all = allocator_entries();
      entries.insert(entries.end(), all.begin(), all.end());
      continue;
    }
    Result<AllocatorEntry> entry = find_allocator(name);
    if (!entry.ok())
      return Status(entry.status().code(), std::string(entry.status().message()) +
                                               "\nexpected one of: all, " + known_allocators());
    entries.push_back(*std::move(entry));
  }
  return entries;
}

Status incomplete_replay(const AllocatorEntry& allocator, const ReplayMeasurement& measured,
                         const ScheduleFile& schedule) {
  if (measured.failures > 0)
    return {StatusCode::kOutOfMemory, allocator.name + ": " +
                                          runtime::count_text(measured.failures, "allocation") +
                                          " failed: out of memory"};
  const uint64_t executed =
      std::accumulate(std::begin(measured.counts), std::end(measured.counts), uint64_t{0});
  return {StatusCode::kDeadlineExceeded,
          fmt::format("{}: {} of {} operations executed within the time limit (--time-limit)",
                      allocator.name, executed, schedule.schedule().operations)};
}

}  // namespace scopevm::lab
