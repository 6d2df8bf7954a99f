// Records the allocations of a session as a memory trace: `scopevm run --memory-trace`.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "scopevm/session.h"
#include "tools/lab/trace/trace_writer.h"

namespace scopevm::lab {

// Observes the allocators of all pools, and the launches and copies of the calls. The call stack of
// an allocation is the op, and its kernel, that the call executes next: the reader or writer of the
// block. Allocations after the last op belong to the function. Thread-safe.
class RunRecorder final : public TraceSink {
 public:
  // Forwards the events of calls to `next`, unless it is null. It must outlive the recorder's
  // calls.
  RunRecorder(std::string_view command, TraceSink* next);

  // The value of SessionOptions::wrap_allocator. The allocators share the recorder.
  static decltype(SessionOptions::wrap_allocator) wrapper(std::shared_ptr<RunRecorder> recorder);

  void record(const TraceEvent& event) override;
  // Ends the recording. Errors: kInvalidArgument.
  Status write(const std::string& path);

 private:
  class RecordedPool;

  uint32_t add_scope(const std::string& name);
  void allocated(uint32_t scope, const void* block, int64_t bytes);
  void released(uint32_t scope, const void* block);
  // The following two REQUIRE that mutex_ is held.
  Event event_now(EventKind kind, uint32_t scope, const void* block);
  void flush(uint32_t stack);

  TraceSink* const next_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  // guards the members below
  bool has_ended_ = false;
  TraceWriter writer_;
  std::vector<Event> pending_;  // whose op is not known yet
  // Live blocks by address, for each scope: addresses of two devices can be equal.
  std::vector<std::unordered_map<uint64_t, uint64_t>> blocks_;
  std::unordered_map<std::thread::id, uint32_t> threads_;
};

}  // namespace scopevm::lab
