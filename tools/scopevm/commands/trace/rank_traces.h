// The trace of a job: the events of all its ranks in one file.
#pragma once

#include <string>

#include "scopevm/c/transport.h"
#include "scopevm/status.h"
#include "tools/scopevm/commands/trace/trace_file.h"

namespace scopevm::tool {

// Writes the trace to a file, after the session has ended with `status`. In a job, all ranks call
// this: the others send their events to rank 0, which writes those of all ranks, with times of its
// clock. They are exact to half of the shortest time in which a message of a few bytes goes to a
// rank and back. `transport`: null without a job. Returns `status` if it is an error, and writes
// nothing then. Errors: kInvalidArgument (the file cannot be written), kDevice (messages failed, or
// a rank did not call this within five seconds).
Status end_trace(Status status, const scopevm_transport* transport, TraceFile& trace,
                 const std::string& path);

}  // namespace scopevm::tool
