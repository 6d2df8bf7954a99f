// The trace of a process, or of all ranks of a job in one file.
#pragma once

#include <functional>
#include <string>

#include "scopevm/c/transport.h"
#include "scopevm/status.h"
#include "tools/scopevm/commands/trace/trace_file.h"

namespace scopevm::tool {

// Calls `run`, which uses a session and releases it, and then writes the trace to the file `path`;
// "": no trace. `transport`: null without a job.
//
// In a job, all ranks call this with a path or without. The others than 0 send their events to rank
// 0, which writes those of all ranks, with times of its clock. They are exact to half of the
// shortest time in which a message of a few bytes goes to a rank and back. `run` sets its argument
// when it has created the session. A rank without a path is left out after five seconds, with a
// warning. An error that the other ranks do not know ends the process: exit_from_job().
//
// Errors: those of `run`, after which nothing is written, and kInvalidArgument (the file cannot be
// written).
Status run_traced(const scopevm_transport* transport, TraceFile& trace, const std::string& path,
                  const std::function<Status(bool& has_session)>& run);

}  // namespace scopevm::tool
