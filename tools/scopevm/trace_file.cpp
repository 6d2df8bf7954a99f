// Writes launches in the trace event format of Chrome; see trace_file.h.
#include "tools/scopevm/trace_file.h"

#include <nlohmann/json.hpp>

#include "tools/scopevm/file.h"

namespace scopevm::tool {

Status TraceFile::write(const std::string& path) const {
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  for (const TraceEvent& event : events_) {
    const std::string_view name = event.name.empty() ? event.kernel : event.name;
    events.push_back({{"name", std::string(name)},
                      {"cat", "launch"},
                      // A "complete event": it has a start and a duration, in microseconds.
                      {"ph", "X"},
                      {"ts", static_cast<double>(event.start_ns - events_.front().start_ns) / 1e3},
                      {"dur", static_cast<double>(event.duration_ns) / 1e3},
                      {"pid", 1},
                      {"tid", 1},
                      {"args", {{"kernel", std::string(event.kernel)}}}});
  }
  const nlohmann::ordered_json trace = {{"traceEvents", std::move(events)},
                                        {"displayTimeUnit", "ns"}};
  return write_file(path,
                    trace.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace scopevm::tool
