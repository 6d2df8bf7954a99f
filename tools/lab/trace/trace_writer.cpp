// Encodes events relative to their predecessors; see trace_writer.h.
#include "tools/lab/trace/trace_writer.h"

#include <bit>
#include <cerrno>
#include <cstring>

namespace scopevm::lab {
namespace {

// A damaged or missing section loses at most this much of the trace, about 8,000 events.
constexpr size_t kFlushBytes = size_t{64} << 10;

std::string little_endian(uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

}  // namespace

TraceWriter::TraceWriter(std::string_view command) : file_(std::tmpfile()) {
  if (file_ == nullptr) error_ = errno;
  write(kTraceMagic);
  write(little_endian(kTraceVersion));
  Encoder properties;
  properties.string("command");
  properties.string(command);
  write_section(SectionKind::kProperties, properties);
}

uint32_t TraceWriter::string(std::string_view text) {
  if (text.empty()) return 0;
  const auto [entry, is_new] =
      strings_.try_emplace(std::string(text), static_cast<uint32_t>(strings_.size() + 1));
  if (is_new) new_strings_.string(text);
  return entry->second;
}

uint32_t TraceWriter::scope(std::string_view name) {
  const auto [entry, is_new] =
      scopes_.try_emplace(std::string(name), static_cast<uint32_t>(scopes_.size()));
  if (is_new) new_scopes_.string(name);
  return entry->second;
}

uint32_t TraceWriter::stack(uint32_t caller, std::string_view frame) {
  const uint32_t name = string(frame);
  const auto [entry, is_new] =
      stacks_.try_emplace({caller, name}, static_cast<uint32_t>(stacks_.size() + 1));
  if (is_new) {
    new_stacks_.integer(caller);
    new_stacks_.integer(name);
  }
  return entry->second;
}

// Called before the fields of an event are compared with the previous event.
void TraceWriter::prepare_event() {
  if (events_.bytes().size() >= kFlushBytes) flush_events();
  if (events_.bytes().empty()) previous_ = {};
}

// Encodes the fields that all kinds of events have.
void TraceWriter::begin_event(const Event& event, uint8_t tag) {
  if (events_.bytes().empty()) {
    events_.integer(totals_.allocations);
    events_.integer(event.time_ns);
    previous_.time_ns = event.time_ns;
  }
  tag |= static_cast<uint8_t>(event.kind);
  if (event.thread != previous_.thread) tag |= kNewThread;
  events_.byte(tag);
  events_.integer(event.time_ns - previous_.time_ns);
  if (event.thread != previous_.thread) events_.integer(event.thread);
  previous_.time_ns = event.time_ns;
  previous_.thread = event.thread;
}

// Encodes the block of an allocation or reallocation after the event.
void TraceWriter::encode_block(const Event& event, uint8_t tag) {
  if ((tag & kNewStack) != 0) events_.integer(event.stack);
  if ((tag & kHasAlignment) != 0)
    events_.byte(static_cast<uint8_t>(std::countr_zero(event.alignment)));
  events_.integer(event.size);
  events_.integer(zigzag(static_cast<int64_t>(event.address - previous_.address)));
  previous_.stack = event.stack;
  previous_.address = event.address;
}

uint64_t TraceWriter::allocate(Event event) {
  prepare_event();
  event.kind = EventKind::kAllocate;
  uint8_t tag = 0;
  if (event.scope != previous_.scope) tag |= kNewScope;
  if (event.stack != previous_.stack) tag |= kNewStack;
  if (event.alignment != 0) tag |= kHasAlignment;
  if (event.is_zeroed) tag |= kIsZeroed;
  begin_event(event, tag);
  if ((tag & kNewScope) != 0) events_.integer(event.scope);
  encode_block(event, tag);
  previous_.scope = event.scope;
  return totals_.allocations++;
}

void TraceWriter::reallocate(Event event) {
  prepare_event();
  event.kind = EventKind::kReallocate;
  const uint8_t tag = event.stack != previous_.stack ? kNewStack : 0;
  begin_event(event, tag);
  events_.integer(totals_.allocations - 1 - event.block);
  encode_block(event, tag);
  ++totals_.reallocations;
}

void TraceWriter::release(Event event) {
  prepare_event();
  event.kind = EventKind::kRelease;
  begin_event(event, 0);
  events_.integer(totals_.allocations - 1 - event.block);
  ++totals_.releases;
}

// Writes the events after the table entries that they refer to.
void TraceWriter::flush_events() {
  if (!new_strings_.bytes().empty()) write_section(SectionKind::kStrings, new_strings_);
  if (!new_stacks_.bytes().empty()) write_section(SectionKind::kStacks, new_stacks_);
  if (!new_scopes_.bytes().empty()) write_section(SectionKind::kScopes, new_scopes_);
  if (!events_.bytes().empty()) write_section(SectionKind::kEvents, events_);
}

void TraceWriter::write_section(SectionKind kind, Encoder& contents) {
  const std::string_view bytes = contents.bytes();
  write(std::string(1, static_cast<char>(kind)));
  write(little_endian(static_cast<uint32_t>(bytes.size())));
  write(little_endian(checksum({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()})));
  write(bytes);
  contents.clear();
}

void TraceWriter::write(std::string_view bytes) {
  if (error_ != 0) return;
  errno = 0;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size())
    error_ = errno != 0 ? errno : EIO;
}

Result<TraceTotals> TraceWriter::finish(uint64_t lost_events, uint64_t unknown_releases) {
  flush_events();
  totals_.lost_events = lost_events;
  totals_.unknown_releases = unknown_releases;
  Encoder end;
  end.integer(totals_.allocations);
  end.integer(totals_.releases);
  end.integer(totals_.reallocations);
  end.integer(lost_events);
  end.integer(unknown_releases);
  write_section(SectionKind::kEnd, end);
  if (error_ == 0 && std::fflush(file_.get()) != 0) error_ = errno;
  if (error_ != 0)
    return Status(
        StatusCode::kInvalidArgument,
        "the trace cannot be written to a temporary file: " + std::string(std::strerror(error_)));
  return totals_;
}

}  // namespace scopevm::lab
