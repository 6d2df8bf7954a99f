// Writes the launches of a run as a Chrome trace (chrome://tracing, ui.perfetto.dev).
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "scopevm/session.h"

namespace scopevm::tool {

// Records trace events in a file without a name, so that long runs need no more memory than short
// ones and an interrupted command leaves no file. Not thread-safe.
class TraceFile final : public TraceSink {
 public:
  void launched(const TraceEvent& event) override;
  // Writes all recorded events to `path`, or to stdout for "-". Errors: kInvalidArgument.
  Status write(const std::string& path);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> events_;  // opened by the first event
  int error_ = 0;                             // the system's error number of the first failure
  int64_t began_ns_ = 0;
};

}  // namespace scopevm::tool
