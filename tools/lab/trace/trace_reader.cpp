// Decodes and checks the sections of a trace; see trace_reader.h.
#include "tools/lab/trace/trace_reader.h"

#include <utility>

#include "runtime/count_text.h"

namespace scopevm::lab {
namespace {

uint32_t little_endian(std::span<const uint8_t> bytes) {
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

Status not_a_trace(const std::string& what) { return {StatusCode::kInvalidModel, what}; }

}  // namespace

Status TraceReader::error(const std::string& what) const {
  return {StatusCode::kInvalidModel,
          "section at byte " + std::to_string(section_start_) + ": " + what};
}

Result<TraceReader> TraceReader::open(std::span<const uint8_t> bytes) {
  if (bytes.size() < kHeaderBytes || std::string_view(reinterpret_cast<const char*>(bytes.data()),
                                                      kTraceMagic.size()) != kTraceMagic)
    return not_a_trace("not a memory trace: expected the magic number SVMEMTRC");
  const uint32_t version = little_endian(bytes.subspan(kTraceMagic.size()));
  if (version != kTraceVersion)
    return not_a_trace("memory trace of version " + std::to_string(version) +
                       ", expected version " + std::to_string(kTraceVersion));
  TraceReader reader(bytes);
  reader.position_ = kHeaderBytes;
  return reader;
}

Result<std::optional<Event>> TraceReader::next() {
  while (events_.at_end()) {
    if (at_end_) return std::optional<Event>();
    SCOPEVM_RETURN_IF_ERROR(read_section());
  }
  SCOPEVM_ASSIGN_OR_RETURN(const Event event, read_event());
  SCOPEVM_RETURN_IF_ERROR(check(event));
  apply(event);
  return std::optional<Event>(event);
}

std::string TraceReader::gap() const {
  using runtime::count_text;
  if (is_cut_)
    return "the trace is cut after " + count_text(totals_.allocations, "allocation") +
           ": its end is missing";
  if (totals_.lost_events > 0)
    return "the recording reached its limit: " + count_text(totals_.lost_events, "event") +
           " after that are missing";
  return "";
}

// Reads the next section. A file that ends inside a section was cut: the events up to that section
// are valid.
Status TraceReader::read_section() {
  section_start_ = position_;
  const std::span<const uint8_t> rest = bytes_.subspan(position_);
  const uint32_t size = rest.size() < kSectionHeaderBytes ? 0 : little_endian(rest.subspan(1));
  if (size > kMaxSectionBytes)
    return error(std::to_string(size) + " bytes, expected at most " +
                 std::to_string(kMaxSectionBytes));
  if (rest.size() < kSectionHeaderBytes || rest.size() - kSectionHeaderBytes < size) {
    is_cut_ = at_end_ = true;
    return {};
  }
  const std::span<const uint8_t> contents = rest.subspan(kSectionHeaderBytes, size);
  if (checksum(contents) != little_endian(rest.subspan(5)))
    return error("the checksum does not match: the file is damaged");
  position_ += kSectionHeaderBytes + size;
  return read_contents(static_cast<SectionKind>(rest.front()), contents);
}

Status TraceReader::read_contents(SectionKind kind, std::span<const uint8_t> contents) {
  const Decoder decoder(contents);
  switch (kind) {
    case SectionKind::kProperties:
      return read_properties(decoder);
    case SectionKind::kStrings:
      return read_strings(decoder);
    case SectionKind::kStacks:
      return read_stacks(decoder);
    case SectionKind::kScopes:
      return read_scopes(decoder);
    case SectionKind::kEvents:
      return begin_events(decoder);
    case SectionKind::kEnd:
      return read_end(decoder);
  }
  return error("unknown kind " + std::to_string(static_cast<int>(kind)));
}

Status TraceReader::read_properties(Decoder decoder) {
  while (!decoder.at_end()) {
    const std::string_view name = decoder.string();
    const std::string_view value = decoder.string();
    if (name == "command") command_ = value;  // other names are reserved for later versions
  }
  return decoder.failed() ? error("invalid properties") : Status();
}

Status TraceReader::read_strings(Decoder decoder) {
  while (!decoder.at_end()) tables_.strings.emplace_back(decoder.string());
  return decoder.failed() ? error("invalid strings") : Status();
}

Status TraceReader::read_stacks(Decoder decoder) {
  while (!decoder.at_end()) {
    const uint64_t caller = decoder.integer();
    const uint64_t frame = decoder.integer();
    if (caller >= tables_.stacks.size() || frame >= tables_.strings.size())
      return error("a call stack refers to a later entry");
    if (depths_[caller] == kMaxStackDepth)
      return error("a call stack of more than " + std::to_string(kMaxStackDepth) + " frames");
    depths_.push_back(static_cast<uint8_t>(depths_[caller] + 1));
    tables_.stacks.push_back({static_cast<uint32_t>(caller), static_cast<uint32_t>(frame)});
  }
  return decoder.failed() ? error("invalid call stacks") : Status();
}

Status TraceReader::read_scopes(Decoder decoder) {
  while (!decoder.at_end()) tables_.scopes.emplace_back(decoder.string());
  return decoder.failed() ? error("invalid memory scopes") : Status();
}

// A section of events starts with the number of its first block and its time, and can be decoded
// without the sections of events before it.
Status TraceReader::begin_events(Decoder decoder) {
  const uint64_t allocations = decoder.integer();
  const uint64_t time_ns = decoder.integer();
  if (decoder.failed()) return error("invalid events");
  if (allocations != totals_.allocations)
    return error("expected allocation " + std::to_string(totals_.allocations) + ", given " +
                 std::to_string(allocations) + ": sections are missing");
  if (time_ns < previous_.time_ns) return error("the time decreases");
  previous_ = {.time_ns = time_ns};
  events_ = decoder;
  return {};
}

Status TraceReader::read_end(Decoder decoder) {
  TraceTotals expected;
  expected.allocations = decoder.integer();
  expected.releases = decoder.integer();
  expected.reallocations = decoder.integer();
  expected.lost_events = decoder.integer();
  expected.unknown_releases = decoder.integer();
  if (decoder.failed() || !decoder.at_end()) return error("invalid totals");
  totals_.lost_events = expected.lost_events;
  totals_.unknown_releases = expected.unknown_releases;
  if (totals_ != expected) return error("the totals do not match the events");
  if (position_ != bytes_.size()) return error("unexpected bytes after the end of the trace");
  at_end_ = true;
  return {};
}

Result<Event> TraceReader::read_event() {
  const uint8_t tag = events_.byte();
  Event event;
  event.kind = static_cast<EventKind>(tag & kKindMask);
  const uint64_t elapsed = events_.integer();
  event.time_ns = previous_.time_ns + elapsed;
  if (event.time_ns < elapsed) return error("the time overflows");
  const uint64_t thread = (tag & kNewThread) != 0 ? events_.integer() : previous_.thread;
  if (thread >= kMaxThreads) return error("thread " + std::to_string(thread) + " is out of range");
  event.thread = static_cast<uint32_t>(thread);
  SCOPEVM_RETURN_IF_ERROR(read_fields(tag, event));
  if (events_.failed()) return error("an event is incomplete");
  return event;
}

// Reads the fields that depend on the kind of event.
Status TraceReader::read_fields(uint8_t tag, Event& event) {
  const bool is_allocation = event.kind == EventKind::kAllocate;
  const uint8_t allowed = is_allocation ? 0x7f
                          : event.kind == EventKind::kReallocate
                              ? kKindMask | kNewThread | kNewStack
                              : kKindMask | kNewThread;
  if (event.kind > EventKind::kReallocate || (tag & ~allowed) != 0)
    return error("unknown kind of event " + std::to_string(tag));
  event.block = totals_.allocations;
  if (!is_allocation) {
    const uint64_t distance = events_.integer();
    if (distance >= totals_.allocations) return error("an event of a block before the first one");
    event.block = totals_.allocations - 1 - distance;
    event.scope = scope_of_block_[event.block];
    if (event.kind == EventKind::kRelease) return {};
  } else {
    const uint64_t scope = (tag & kNewScope) != 0 ? events_.integer() : previous_.scope;
    if (scope >= tables_.scopes.size()) return error("unknown memory scope");
    event.scope = static_cast<uint32_t>(scope);
  }
  const uint64_t stack = (tag & kNewStack) != 0 ? events_.integer() : previous_.stack;
  if (stack >= tables_.stacks.size()) return error("unknown call stack");
  event.stack = static_cast<uint32_t>(stack);
  if ((tag & kHasAlignment) != 0) event.alignment = uint64_t{1} << (events_.byte() & 63);
  event.is_zeroed = (tag & kIsZeroed) != 0;
  event.size = events_.integer();
  event.address = previous_.address + static_cast<uint64_t>(unzigzag(events_.integer()));
  return {};
}

Status TraceReader::check(const Event& event) {
  if (event.size > kMaxBlockSize)
    return error("an allocation of " + runtime::count_text(event.size, "byte") +
                 ", expected at most " + std::to_string(kMaxBlockSize));
  if (event.alignment > kMaxAlignment)
    return error("an alignment of " + std::to_string(event.alignment) + ", expected at most " +
                 std::to_string(kMaxAlignment));
  if (event.address > ~uint64_t{0} - event.size)
    return error("a block ends after the last address");
  if (event.kind != EventKind::kAllocate && !is_live_[event.block])
    return error("block " + std::to_string(event.block) + " is used after its release");
  return {};
}

void TraceReader::apply(const Event& event) {
  previous_.time_ns = event.time_ns;
  previous_.thread = event.thread;
  switch (event.kind) {
    case EventKind::kAllocate:
      is_live_.push_back(true);
      scope_of_block_.push_back(event.scope);
      previous_.scope = event.scope;
      ++totals_.allocations;
      break;
    case EventKind::kRelease:
      is_live_[event.block] = false;
      ++totals_.releases;
      return;
    case EventKind::kReallocate:
      ++totals_.reallocations;
      break;
  }
  previous_.stack = event.stack;
  previous_.address = event.address;
}

}  // namespace scopevm::lab
