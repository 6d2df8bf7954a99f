// scopevm alloc compare: replays a trace with several allocators, in interleaved rounds.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/files/file.h"
#include "tools/lab/replay/best_plan.h"
#include "tools/lab/replay/comparison.h"
#include "tools/lab/replay/replay_options.h"
#include "tools/lab/seconds.h"

namespace scopevm::lab {
namespace {

struct CompareCommand {
  ReplaySelection selection;
  int rounds = 5;
  double plan_time_s = 2;
  bool json = false;
  std::string output;  // file for the JSON; empty: none
};

// The rounds of one allocator. After a failed round there are no further ones.
struct Rounds {
  AllocatorEntry allocator;
  std::vector<ReplayMeasurement> measured;
  int64_t system_calls = kUnknown;
  Status failure;
};

Result<ReplayMeasurement> run_complete(const ScheduleFile& schedule,
                                       const AllocatorEntry& allocator,
                                       const ReplayOptions& options) {
  SCOPEVM_ASSIGN_OR_RETURN(const ReplayMeasurement measured,
                           run_worker(schedule, allocator, options));
  if (!std::ranges::equal(measured.counts, schedule.schedule().counts) || measured.failures > 0)
    return incomplete_replay(allocator, measured, schedule);
  return measured;
}

// Counts the system calls in a replay of its own, because counting them takes time. With threads
// they remain unknown: the C library starts a thread while the signal of the filter is blocked.
void count_system_calls(Rounds& rounds, const ScheduleFile& schedule, ReplayOptions options) {
  if (options.has_threads) return;
  options.counts_system_calls = true;
  const Result<ReplayMeasurement> counted = run_worker(schedule, rounds.allocator, options);
  if (counted.ok()) rounds.system_calls = counted->system_calls;
}

void show_progress(int round, int rounds, const std::string& name) {
  if (isatty(STDERR_FILENO) != 0)
    tool::print_message(stderr, "\r\x1b[Kround {} of {}: {}", round + 1, rounds, name);
}

void end_progress() {
  if (isatty(STDERR_FILENO) != 0) std::fputs("\r\x1b[K", stderr);
}

// A load of the machine that changes over time then affects all allocators alike.
void run_interleaved(const CompareCommand& command, const ScheduleFile& schedule,
                     std::vector<Rounds>& all) {
  for (int round = 0; round < command.rounds; ++round)
    for (Rounds& rounds : all) {
      if (!rounds.failure.ok()) continue;
      show_progress(round, command.rounds, rounds.allocator.name);
      Result<ReplayMeasurement> measured =
          run_complete(schedule, rounds.allocator, command.selection.options);
      if (measured.ok())
        rounds.measured.push_back(*measured);
      else
        rounds.failure = std::move(measured).status();
    }
  for (Rounds& rounds : all)
    if (rounds.failure.ok()) count_system_calls(rounds, schedule, command.selection.options);
  end_progress();
}

ComparedAllocator summary_of(const Rounds& rounds) {
  ComparedAllocator summary{.name = rounds.allocator.name,
                            .problem = std::string(rounds.failure.message()),
                            .rounds = static_cast<int>(rounds.measured.size())};
  if (!rounds.failure.ok()) return summary;
  summary.median = median_of(rounds.measured);
  summary.median.system_calls = rounds.system_calls;
  return summary;
}

Status compare(const CompareCommand& command) {
  SCOPEVM_RETURN_IF_ERROR(tool::check_is_no_input(command.output, {command.selection.trace}));
  SCOPEVM_RETURN_IF_ERROR(tool::check_is_writable(command.output));
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<AllocatorEntry> allocators,
                           selected_allocators(command.selection));
  SCOPEVM_ASSIGN_OR_RETURN(
      const ScheduleFile schedule,
      ScheduleFile::load(command.selection.trace, command.selection.has_mappings));
  SCOPEVM_ASSIGN_OR_RETURN(const BestPlan plan, best_plan(schedule, command.plan_time_s));
  std::vector<Rounds> all;
  for (const AllocatorEntry& allocator : allocators) all.push_back({.allocator = allocator});
  run_interleaved(command, schedule, all);
  Comparison comparison{.trace = command.selection.trace,
                        .schedule = schedule.schedule(),
                        .options = command.selection.options,
                        .plan = plan};
  for (const Rounds& rounds : all) comparison.allocators.push_back(summary_of(rounds));
  if (command.json)
    tool::write_output(json_of(comparison));
  else
    print_table(comparison);
  if (!command.output.empty())
    SCOPEVM_RETURN_IF_ERROR(tool::write_file(command.output, json_of(comparison)));
  if (std::ranges::any_of(all, [](const Rounds& rounds) { return rounds.failure.ok(); })) return {};
  return {StatusCode::kResourceLimit, "no allocator was measured"};
}

void declare(CLI::App& command, CompareCommand& options) {
  options.selection.allocators = {"all"};
  add_replay_options(command, options.selection, "all");
  command.add_option("--rounds", options.rounds, "Number of replays; the medians are printed")
      ->check(tool::integer_in(1, 1000))
      ->capture_default_str();
  command
      .add_option("--plan-time", options.plan_time_s,
                  "Limit of the CPU time of planning the blocks of the trace, in seconds")
      ->check(is_seconds)
      ->type_name("SECONDS")
      ->capture_default_str();
  command.add_flag("--json", options.json,
                   "Print JSON in the form of Google Benchmark instead of the table");
  command.add_option("-o,--output", options.output, "Also write the JSON to this file")
      ->type_name("FILE.json");
}

int execute(const CompareCommand& options) { return tool::report(compare(options)); }

const tool::Command<CompareCommand> compare_command(
    {.position = 104,
     .name = "alloc compare",
     .description = "Replay a memory trace with several allocators and compare time and memory"},
    declare, execute);

}  // namespace
}  // namespace scopevm::lab
