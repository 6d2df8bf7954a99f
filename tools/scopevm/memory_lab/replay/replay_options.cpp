// Declares and evaluates the options of replays; see replay_options.h.
#include "tools/scopevm/memory_lab/replay/replay_options.h"

#include <fmt/format.h>

#include <numeric>

#include "runtime/count_text.h"

namespace scopevm::lab {

void add_replay_options(CLI::App& command, ReplaySelection& selection,
                        const std::string& otherwise) {
  std::string names;
  for (const AllocatorEntry& entry : allocator_entries())
    names += (names.empty() ? "" : ", ") + entry.name;
  command.add_option("FILE", selection.trace, "Memory trace")->required();
  command
      .add_option("--allocator", selection.allocators,
                  "Allocator: all, " + names + " (one per option; default: " + otherwise + ")")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_flag(
      "--threads", selection.options.has_threads,
      "Execute the operations of each thread of the trace in a thread; default: all in "
      "one thread, in the order of time");
  command.add_flag("!--no-touch", selection.options.touches_pages,
                   "Do not write to the pages of allocated blocks");
  command
      .add_option("--time-limit", selection.options.time_limit_s,
                  "Time limit of each replay in seconds")
      ->check(CLI::PositiveNumber)
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
    SCOPEVM_ASSIGN_OR_RETURN(AllocatorEntry entry, find_allocator(name));
    entries.push_back(std::move(entry));
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
