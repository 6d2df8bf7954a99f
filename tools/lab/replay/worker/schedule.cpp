// Assigns slots to the blocks of a trace; see schedule.h.
#include "tools/lab/replay/worker/schedule.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "runtime/count_text.h"
#include "runtime/write_all.h"
#include "tools/files/standard_streams.h"
#include "tools/lab/trace/trace_file.h"

namespace scopevm::lab {
namespace {

// A slot in use keeps the index of its block's size.
class Builder {
 public:
  // Keeps the numbers of later blocks.
  void skip(const Event& event) {
    if (event.kind == EventKind::kAllocate) slots_.push_back(0);
  }

  void add(const Event& event) {
    const uint32_t slot = event.kind == EventKind::kAllocate ? take_slot() : slots_[event.block];
    Operation operation = {};
    operation.size = event.size;
    operation.slot = slot;
    operation.step = steps_[slot]++;
    operation.thread = event.thread;
    operation.scope = static_cast<uint16_t>(event.scope);
    operation.kind = event.kind;
    operation.is_zeroed = event.is_zeroed;
    if (event.alignment > 0)
      operation.alignment_log2 = static_cast<uint8_t>(std::countr_zero(event.alignment));
    operations_.push_back(operation);
    count(event, slot);
    if (event.kind == EventKind::kRelease) free_slots_.push_back(slot);
  }

  const std::vector<Operation>& operations() const { return operations_; }

  Schedule finish(uint32_t scopes) {
    schedule_.operations = operations_.size();
    schedule_.slots = sizes_.size();
    schedule_.scopes = scopes;
    return schedule_;
  }

 private:
  uint32_t take_slot() {
    if (free_slots_.empty()) {
      free_slots_.push_back(static_cast<uint32_t>(sizes_.size()));
      sizes_.push_back(0);
      steps_.push_back(0);
    }
    slots_.push_back(free_slots_.back());
    free_slots_.pop_back();
    return slots_.back();
  }

  void count(const Event& event, uint32_t slot) {
    live_bytes_ += event.size - sizes_[slot];
    sizes_[slot] = event.size;
    ++schedule_.counts[static_cast<int>(event.kind)];
    schedule_.threads = std::max(schedule_.threads, event.thread + 1);
    schedule_.alignment = std::max(schedule_.alignment, event.alignment);
    if (live_bytes_ <= schedule_.peak_live_bytes) return;
    schedule_.peak_live_bytes = live_bytes_;
    schedule_.peak_operation = operations_.size() - 1;
  }

  Schedule schedule_;
  std::vector<Operation> operations_;
  std::vector<uint32_t> slots_;  // by block
  std::vector<uint32_t> free_slots_;
  std::vector<uint64_t> sizes_;  // by slot
  std::vector<uint32_t> steps_;  // by slot
  uint64_t live_bytes_ = 0;
};

template <typename T>
bool write_all(int file, std::span<const T> values) {
  return runtime::write_all(file,
                            {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()});
}

}  // namespace

Result<ScheduleFile> ScheduleFile::load(const std::string& trace_path, bool has_mappings) {
  SCOPEVM_ASSIGN_OR_RETURN(OpenTrace trace, open_trace(trace_path));
  Builder builder;
  uint64_t skipped = 0;
  SCOPEVM_RETURN_IF_ERROR(for_each_event(trace.reader, trace_path, [&](const Event& event) {
    if (has_mappings || trace.reader.tables().scopes[event.scope] != kMappingScope)
      return builder.add(event);
    builder.skip(event);
    ++skipped;
  }));
  if (skipped > 0)
    tool::print_message(stderr, "scopevm: note: {}: {} of mmap() not replayed (--mappings)\n",
                        trace_path, runtime::count_text(skipped, "operation"));
  const size_t scopes = trace.reader.tables().scopes.size();
  if (scopes > UINT16_MAX)
    return Status(StatusCode::kInvalidModel, trace_path + ": too many memory scopes");
  ScheduleFile file;
  file.schedule_ = builder.finish(static_cast<uint32_t>(scopes));
  file.descriptor_ = memfd_create("schedule", 0);
  if (file.descriptor_ < 0 || !write_all<Schedule>(file.descriptor_, {&file.schedule_, 1}) ||
      !write_all<Operation>(file.descriptor_, builder.operations()))
    return Status::out_of_memory();
  return file;
}

const Schedule* ScheduleFile::map(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return nullptr;
  // Populated, so that its page faults do not count as those of the allocator.
  void* mapped = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ,
                      MAP_SHARED | MAP_POPULATE, descriptor, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<const Schedule*>(mapped);
}

ScheduleFile::ScheduleFile(ScheduleFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), schedule_(other.schedule_) {}

ScheduleFile::~ScheduleFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace scopevm::lab
