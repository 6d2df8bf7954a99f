// Writes the events of a run as a Chrome trace (chrome://tracing, ui.perfetto.dev).
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "scopevm/session.h"

namespace scopevm::tool {

// Records trace events in a file without a name, so that long runs need no more memory than short
// ones and an interrupted command leaves no file. Not thread-safe.
class TraceFile final : public TraceSink {
 public:
  // Times in the file are relative to this.
  TraceFile();
  void record(const TraceEvent& event) override;
  // Writes all recorded events to `path`, or to stdout for "-". Errors: kInvalidArgument.
  Status write(const std::string& path);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  // The number of the lane's track.
  int64_t track_of(const TraceEvent& event);
  // One event per track, each followed by a comma. Each track has further events.
  std::string track_names() const;

  const int64_t began_ns_;
  std::unique_ptr<std::FILE, Close> events_;  // opened by the first event
  int error_ = 0;                             // the system's error number of the first failure
  std::map<int64_t, std::string> tracks_;     // their names, by number
};

}  // namespace scopevm::tool
