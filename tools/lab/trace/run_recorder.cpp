// Wraps the allocators of a session; see run_recorder.h.
#include "tools/lab/trace/run_recorder.h"

#include <utility>

#include "runtime/memory/wrappers.h"
#include "tools/lab/trace/trace_file.h"

namespace scopevm::lab {

class RunRecorder::RecordedPool final : public runtime::ForwardingAllocator {
 public:
  RecordedPool(std::shared_ptr<RunRecorder> recorder, uint32_t scope,
               std::shared_ptr<Allocator> allocator)
      : ForwardingAllocator(std::move(allocator)), recorder_(std::move(recorder)), scope_(scope) {}

  void* allocate(int64_t bytes) override {
    void* block = inner().allocate(bytes);
    if (block != nullptr) recorder_->allocated(scope_, block, bytes);
    return block;
  }
  void deallocate(void* block, int64_t bytes) override {
    // Before the call: afterwards, another thread can allocate the same address.
    recorder_->released(scope_, block);
    inner().deallocate(block, bytes);
  }

 private:
  const std::shared_ptr<RunRecorder> recorder_;
  const uint32_t scope_;
};

RunRecorder::RunRecorder(std::string_view command, TraceSink* next)
    : next_(next), writer_(command) {}

decltype(SessionOptions::wrap_allocator) RunRecorder::wrapper(
    std::shared_ptr<RunRecorder> recorder) {
  return [recorder = std::move(recorder)](
             std::string_view device, std::string_view scope,
             std::shared_ptr<Allocator> allocator) -> std::shared_ptr<Allocator> {
    const uint32_t index = recorder->add_scope(std::string(device) + "." + std::string(scope));
    return std::make_shared<RecordedPool>(recorder, index, std::move(allocator));
  };
}

uint32_t RunRecorder::add_scope(const std::string& name) {
  const std::lock_guard lock(mutex_);
  blocks_.emplace_back();
  return writer_.scope(name);
}

Event RunRecorder::event_now(EventKind kind, uint32_t scope, const void* block) {
  Event event;
  event.kind = kind;
  event.thread =
      threads_.try_emplace(std::this_thread::get_id(), static_cast<uint32_t>(threads_.size()))
          .first->second;
  event.scope = scope;
  event.time_ns = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                            std::chrono::steady_clock::now() - start_)
                                            .count());
  event.address = reinterpret_cast<uint64_t>(block);
  return event;
}

void RunRecorder::allocated(uint32_t scope, const void* block, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (has_ended_) return;
  Event event = event_now(EventKind::kAllocate, scope, block);
  event.size = static_cast<uint64_t>(bytes);
  pending_.push_back(event);
}

void RunRecorder::released(uint32_t scope, const void* block) {
  const std::lock_guard lock(mutex_);
  if (!has_ended_) pending_.push_back(event_now(EventKind::kRelease, scope, block));
}

void RunRecorder::flush(uint32_t stack) {
  for (Event& event : pending_) {
    auto& blocks = blocks_[event.scope];
    if (event.kind == EventKind::kAllocate) {
      event.stack = stack;
      blocks[event.address] = writer_.allocate(event);
    } else {
      const auto found = blocks.find(event.address);
      event.block = found->second;
      writer_.release(event);
      blocks.erase(found);
    }
  }
  pending_.clear();
}

void RunRecorder::record(const TraceEvent& event) {
  if (next_ != nullptr) next_->record(event);
  // Allocations belong to the next event of an op, or to the call.
  using Kind = TraceEvent::Kind;
  if (event.lane != TraceEvent::Lane::kCaller ||
      (event.kind != Kind::kLaunch && event.kind != Kind::kCopy && event.kind != Kind::kCall))
    return;
  const std::lock_guard lock(mutex_);
  if (pending_.empty() || has_ended_) return;
  uint32_t stack = 0;
  if (!event.name.empty()) stack = writer_.stack(stack, event.name);
  if (!event.kernel.empty()) stack = writer_.stack(stack, event.kernel);
  flush(stack);
}

Status RunRecorder::write(const std::string& path) {
  const std::lock_guard lock(mutex_);
  flush(0);
  has_ended_ = true;
  SCOPEVM_RETURN_IF_ERROR(writer_.finish().status());
  return write_trace(writer_, path);
}

}  // namespace scopevm::lab
