// Writes launches in the trace event format of Chrome; see trace_file.h.
#include "tools/scopevm/trace_file.h"

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "runtime/mapped_file.h"
#include "tools/scopevm/file.h"

namespace scopevm::tool {
namespace {

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string text_of(const TraceEvent& event, int64_t began_ns) {
  const std::string_view name = event.name.empty() ? event.kernel : event.name;
  const nlohmann::ordered_json json = {
      {"name", std::string(name)},
      {"cat", "launch"},
      // A "complete event": it has a start and a duration, in microseconds.
      {"ph", "X"},
      {"ts", static_cast<double>(event.start_ns - began_ns) / 1e3},
      {"dur", static_cast<double>(event.duration_ns) / 1e3},
      {"pid", 1},
      {"tid", 1},
      {"args", {{"kernel", std::string(event.kernel)}}}};
  return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void TraceFile::launched(const TraceEvent& event) {
  if (error_ != 0) return;
  errno = 0;
  if (events_ == nullptr) {
    events_.reset(std::tmpfile());
    began_ns_ = event.start_ns;
  } else {
    std::fputs(",\n", events_.get());
  }
  const std::string text = text_of(event, began_ns_);
  if (events_ == nullptr || std::fwrite(text.data(), 1, text.size(), events_.get()) != text.size())
    error_ = errno != 0 ? errno : EIO;
}

Status TraceFile::write(const std::string& path) {
  runtime::MappedFile events;
  if (events_ != nullptr && error_ == 0) {
    if (std::fflush(events_.get()) != 0) error_ = errno;
    SCOPEVM_ASSIGN_OR_RETURN(
        events, runtime::map_file("/proc/self/fd/" + std::to_string(fileno(events_.get()))));
  }
  if (error_ != 0)
    return {StatusCode::kInvalidArgument, "the trace cannot be recorded in a temporary file: " +
                                              std::string(std::strerror(error_))};
  const std::span<const uint8_t> pieces[] = {
      bytes_of("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"),
      {events.data, events.size},
      bytes_of("\n]}\n")};
  return write_file(path, pieces);
}

}  // namespace scopevm::tool
