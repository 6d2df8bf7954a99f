// Writes the launches of a run as a Chrome trace (chrome://tracing, ui.perfetto.dev).
#pragma once

#include <string>
#include <vector>

#include "scopevm/session.h"

namespace scopevm::tool {

// Records trace events. Not thread-safe.
class TraceFile final : public TraceSink {
 public:
  void launched(const TraceEvent& event) override { events_.push_back(event); }
  // REQUIRES: the module is still loaded, because the events contain views of its strings.
  Status write(const std::string& path) const;

 private:
  std::vector<TraceEvent> events_;
};

}  // namespace scopevm::tool
