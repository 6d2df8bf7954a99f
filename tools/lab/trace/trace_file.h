// Memory traces as input and output files of commands.
#pragma once

#include <string>

#include "runtime/mapped_file.h"
#include "scopevm/status.h"
#include "tools/lab/trace/trace_reader.h"
#include "tools/lab/trace/trace_writer.h"

namespace scopevm::lab {

struct OpenTrace {
  runtime::MappedFile file;
  TraceReader reader;
};

// Opens a trace; "-" denotes stdin. Errors: kNotFound, kInvalidModel (with the file's name).
Result<OpenTrace> open_trace(const std::string& path);

// Calls `function` for each event. Prints a warning about the gap of an incomplete trace to stderr.
// Errors: kInvalidModel, with the name `path`.
template <typename Function>
Status for_each_event(TraceReader& reader, const std::string& path, Function function);

// Writes a finished trace to `path`, or to stdout for "-". Errors: kInvalidArgument.
Status write_trace(const TraceWriter& writer, const std::string& path);

// Prints the gap of a trace that was read to its end, as a warning.
void warn_of_gap(const TraceReader& reader, const std::string& path);

template <typename Function>
Status for_each_event(TraceReader& reader, const std::string& path, Function function) {
  while (true) {
    Result<std::optional<Event>> event = reader.next();
    if (!event.ok()) return std::move(event).status().with_context(path);
    if (!event->has_value()) break;
    function(**event);
  }
  warn_of_gap(reader, path);
  return {};
}

}  // namespace scopevm::lab
