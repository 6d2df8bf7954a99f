// Opens and writes trace files; see trace_file.h.
#include "tools/lab/trace/trace_file.h"

#include "tools/files/file.h"
#include "tools/files/standard_streams.h"

namespace scopevm::lab {

Result<OpenTrace> open_trace(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(runtime::MappedFile file, tool::map_input(path));
  Result<TraceReader> reader = TraceReader::open({file.data, file.size});
  if (!reader.ok()) return std::move(reader).status().with_context(tool::input_name(path));
  return OpenTrace{std::move(file), *std::move(reader)};
}

Status write_trace(const TraceWriter& writer, const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(
      const runtime::MappedFile trace,
      runtime::map_file("/proc/self/fd/" + std::to_string(fileno(writer.file()))));
  const std::span<const uint8_t> bytes(trace.data, trace.size);
  return tool::write_file(path, {&bytes, 1});
}

void warn_of_gap(const TraceReader& reader, const std::string& path) {
  if (const std::string gap = reader.gap(); !gap.empty())
    tool::print_message(stderr, "scopevm: warning: {}: {}\n", tool::input_name(path), gap);
}

}  // namespace scopevm::lab
