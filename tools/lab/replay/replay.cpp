// scopevm alloc replay: executes the operations of a trace with allocators, and checks that each
// executed all of them.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/count_text.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/files/json_output.h"
#include "tools/lab/replay/replay_options.h"

namespace scopevm::lab {
namespace {

using runtime::count_text;
using Json = nlohmann::ordered_json;

struct ReplayCommand {
  ReplaySelection selection;
  bool json = false;
};

Json json_of(const std::string& name, const ReplayMeasurement& measured, bool is_complete) {
  return {{"allocator", name},
          {"is_complete", is_complete},
          {"allocations", measured.counts[0]},
          {"releases", measured.counts[1]},
          {"reallocations", measured.counts[2]},
          {"failures", measured.failures},
          {"ns_per_operation", measured.mean_ns},
          {"ns_per_operation_touched", measured.touched_ns},
          {"peak_resident_bytes", measured.peak_resident}};
}

void print_text(const std::string& name, const ReplayMeasurement& measured) {
  tool::print("{}: {}, {}, {}, {}; {:.1f} ns per operation\n", name,
              count_text(measured.counts[0], "allocation"),
              count_text(measured.counts[1], "release"),
              count_text(measured.counts[2], "reallocation"),
              count_text(measured.failures, "failure"), measured.mean_ns);
}

Status replay_all(const ReplayCommand& command) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<AllocatorEntry> allocators,
                           selected_allocators(command.selection));
  SCOPEVM_ASSIGN_OR_RETURN(
      const ScheduleFile schedule,
      ScheduleFile::load(command.selection.trace, command.selection.has_mappings));
  Json all = Json::array();
  Status incomplete;
  for (const AllocatorEntry& allocator : allocators) {
    Result<ReplayMeasurement> measured = run_worker(schedule, allocator, command.selection.options);
    if (!measured.ok()) return std::move(measured).status().with_context(allocator.name);
    const bool is_complete =
        std::ranges::equal(measured->counts, schedule.schedule().counts) && measured->failures == 0;
    if (command.json)
      all.push_back(json_of(allocator.name, *measured, is_complete));
    else
      print_text(allocator.name, *measured);
    if (!is_complete && incomplete.ok())
      incomplete = incomplete_replay(allocator, *measured, schedule);
  }
  if (command.json) tool::write_json(all);
  return incomplete;
}

void declare(CLI::App& command, ReplayCommand& options) {
  options.selection.allocators = {"pool"};
  add_replay_options(command, options.selection, "pool");
  command.add_flag("--json", options.json, "Print JSON");
}

int execute(const ReplayCommand& options) { return tool::report(replay_all(options)); }

const tool::Command<ReplayCommand> replay_command(
    {.position = 103,
     .name = "alloc replay",
     .description = "Execute the operations of a memory trace with allocators"},
    declare, execute);

}  // namespace
}  // namespace scopevm::lab
