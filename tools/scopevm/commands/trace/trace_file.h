// Writes the events of a run as a Chrome trace (chrome://tracing, ui.perfetto.dev).
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "runtime/mapped_file.h"
#include "scopevm/session.h"

namespace scopevm::tool {

// Records trace events in a file without a name, so that long runs need no more memory than short
// ones and an interrupted command leaves no file. record() is thread-safe.
class TraceFile final : public TraceSink {
 public:
  // Times in the file are relative to this. `transport`: that of this process in a job; else null.
  explicit TraceFile(const scopevm_transport* transport);
  void record(const TraceEvent& event) override;
  // Writes all recorded events to `path`, or to stdout for "-". Errors: kInvalidArgument.
  Status write(const std::string& path);

  // The time of the steady clock that times are relative to.
  std::chrono::nanoseconds zero() const { return zero_; }
  // Passes all recorded events to `use`, in parts of about a megabyte, with times relative to
  // `zero`, for add() of the file of another rank.
  Status read(std::chrono::nanoseconds zero,
              const std::function<void(const std::string& part)>& use);
  void add(const std::string& events);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  // The functions below need mutex_.
  // The number of this process in the file.
  int process() const { return 1 + rank_.value_or(0); }
  // The number of the lane's track. Each thread that runs calls has tracks of its own.
  int64_t track_of(const TraceEvent& event);
  void append(const std::string& lines);
  // Events with the names of the process and of its tracks.
  std::string track_names() const;
  // Valid until the next event. Errors: kInvalidArgument.
  Result<runtime::MappedFile> map();

  const std::optional<int> rank_;
  const std::chrono::nanoseconds zero_;
  std::mutex mutex_;                            // guards the members below
  std::unique_ptr<std::FILE, Close> events_;    // opened by the first event
  int error_ = 0;                               // the system's error number of the first failure
  std::map<int64_t, std::string> tracks_;       // their names, by number
  std::map<std::thread::id, int64_t> callers_;  // threads that run calls, numbered from 0
};

}  // namespace scopevm::tool
