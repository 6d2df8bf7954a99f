// The options that `replay` and `compare` have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "scopevm/status.h"
#include "tools/lab/replay/worker/allocators.h"
#include "tools/lab/replay/worker/worker.h"

namespace scopevm::lab {

struct ReplaySelection {
  std::string trace;
  std::vector<std::string> allocators;  // names, or "all"
  bool has_mappings = false;            // also replays the mappings of a recorded program
  ReplayOptions options;
};

// `otherwise` describes the allocators without the option.
void add_replay_options(CLI::App& command, ReplaySelection& selection,
                        const std::string& otherwise);

// Errors: kInvalidArgument (unknown name).
Result<std::vector<AllocatorEntry>> selected_allocators(const ReplaySelection& selection);

// The error for a replay that did not execute all operations: an allocation failed (kOutOfMemory),
// or the time limit was exceeded (kDeadlineExceeded).
Status incomplete_replay(const AllocatorEntry& allocator, const ReplayMeasurement& measured,
                         const ScheduleFile& schedule);

}  // namespace scopevm::lab
