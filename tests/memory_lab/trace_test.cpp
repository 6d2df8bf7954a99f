// The format of memory traces: round trips, cut files and damaged files.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "runtime/mapped_file.h"
#include "tools/lab/trace/trace_reader.h"
#include "tools/lab/trace/trace_writer.h"

namespace scopevm::lab {
namespace {

using Bytes = std::vector<uint8_t>;

struct Trace {
  Bytes bytes;
  std::vector<Event> events;
  TraceTotals totals;
};

// Random events of several threads, scopes, stacks and blocks.
Trace random_trace(int count, uint64_t lost_events = 0) {
  std::mt19937_64 random(count);
  TraceWriter writer("program with arguments");
  Trace trace;
  std::vector<Event> live;
  uint64_t time_ns = 0;
  for (int i = 0; i < count; ++i) {
    Event event;
    event.time_ns = time_ns += random() % 5000;
    event.thread = random() % 4;
    const bool is_allocation = live.empty() || random() % 2 == 0;
    const size_t chosen = is_allocation ? 0 : random() % live.size();
    if (!is_allocation) {
      event.block = live[chosen].block;
      event.scope = live[chosen].scope;
    }
    if (!is_allocation && random() % 3 > 0) {
      event.kind = EventKind::kRelease;
      writer.release(event);
      live[chosen] = live.back();
      live.pop_back();
      trace.events.push_back(event);
      continue;
    }
    event.stack = writer.stack(writer.stack(0, "main"), "f" + std::to_string(random() % 50));
    event.size = random() % (random() % 10 == 0 ? kMaxBlockSize : 1000);
    event.address = random() >> 8;
    if (is_allocation) {
      event.scope = writer.scope("scope " + std::to_string(random() % 3));
      event.is_zeroed = random() % 4 == 0;
      if (random() % 4 == 0) event.alignment = uint64_t{1} << random() % 20;
      event.block = writer.allocate(event);
      live.push_back(event);
    } else {
      event.kind = EventKind::kReallocate;
      writer.reallocate(event);
    }
    trace.events.push_back(event);
  }
  trace.totals = *writer.finish(lost_events, 3);
  const auto file = runtime::map_file("/proc/self/fd/" + std::to_string(fileno(writer.file())));
  trace.bytes.assign(file->data, file->data + file->size);
  return trace;
}

// What a reader returns: the events up to the end or the first error.
struct Read {
  std::vector<Event> events;
  Status status;
  TraceTotals totals;
  std::string gap;
  std::string command;
  std::vector<std::string> strings;
};

Read read(const Bytes& bytes) {
  Read result;
  Result<TraceReader> reader = TraceReader::open(bytes);
  if (!reader.ok()) return result.status = std::move(reader).status(), result;
  while (true) {
    Result<std::optional<Event>> event = reader->next();
    if (!event.ok()) return result.status = std::move(event).status(), result;
    if (!event->has_value()) break;
    result.events.push_back(**event);
  }
  result.totals = reader->totals();
  result.gap = reader->gap();
  result.command = reader->command();
  result.strings = reader->tables().strings;
  return result;
}

void expect_equal(const Event& a, const Event& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.is_zeroed, b.is_zeroed);
  EXPECT_EQ(a.thread, b.thread);
  EXPECT_EQ(a.stack, b.stack);
  EXPECT_EQ(a.scope, b.scope);
  EXPECT_EQ(a.time_ns, b.time_ns);
  EXPECT_EQ(a.block, b.block);
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.alignment, b.alignment);
  EXPECT_EQ(a.address, b.address);
}

TEST(MemoryTrace, ReadsWhatWasWritten) {
  for (const int count : {0, 1, 100, 50000}) {
    const Trace trace = random_trace(count);
    const Read result = read(trace.bytes);
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    ASSERT_EQ(result.events.size(), trace.events.size());
    for (size_t i = 0; i < trace.events.size(); ++i)
      expect_equal(result.events[i], trace.events[i]);
    EXPECT_EQ(result.totals, trace.totals);
    EXPECT_EQ(result.gap, "");
    EXPECT_EQ(result.command, "program with arguments");
  }
}

TEST(MemoryTrace, EventTakesFewBytes) {
  const Trace trace = random_trace(50000);
  // Random sizes and addresses take most of them.
  EXPECT_LT(trace.bytes.size(), trace.events.size() * 14);
}

TEST(MemoryTrace, SameEventsSameBytes) {
  EXPECT_EQ(random_trace(1000).bytes, random_trace(1000).bytes);
}

TEST(MemoryTrace, CutFileIsReadToItsLastSection) {
  const Trace trace = random_trace(20000);
  size_t most = 0;
  for (size_t size = kHeaderBytes; size < trace.bytes.size(); size += 997) {
    const Read result = read(Bytes(trace.bytes.begin(), trace.bytes.begin() + size));
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    EXPECT_NE(result.gap.find("the trace is cut after"), std::string::npos) << result.gap;
    for (size_t i = 0; i < result.events.size(); ++i)
      ASSERT_EQ(result.events[i].address, trace.events[i].address);
    most = std::max(most, result.events.size());
  }
  EXPECT_GT(most, trace.events.size() / 2);
}

TEST(MemoryTrace, LimitIsReported) {
  EXPECT_EQ(read(random_trace(10, 17).bytes).gap,
            "the recording reached its limit: 17 events after that are missing");
}

TEST(MemoryTrace, RejectsOtherFiles) {
  EXPECT_EQ(read({}).status.message(), "not a memory trace: expected the magic number SVMEMTRC");
  Bytes bytes = random_trace(10).bytes;
  bytes[8] = 9;
  EXPECT_EQ(read(bytes).status.message(), "memory trace of version 9, expected version 1");
}

TEST(MemoryTrace, DetectsDamagedSections) {
  Bytes bytes = random_trace(10).bytes;
  bytes[kHeaderBytes + kSectionHeaderBytes] ^= 1;
  EXPECT_EQ(read(bytes).status.message(),
            "section at byte 12: the checksum does not match: the file is damaged");
}

// A trace with the given sections.
Bytes with_sections(const std::vector<std::pair<SectionKind, Encoder>>& sections) {
  Bytes bytes(kTraceMagic.begin(), kTraceMagic.end());
  const auto add = [&](std::string_view text) {
    bytes.insert(bytes.end(), text.begin(), text.end());
  };
  const auto add_integer = [&](uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<uint8_t>(value >> shift));
  };
  add_integer(kTraceVersion);
  for (const auto& [kind, contents] : sections) {
    const std::string_view text = contents.bytes();
    bytes.push_back(static_cast<uint8_t>(kind));
    add_integer(static_cast<uint32_t>(text.size()));
    add_integer(checksum({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
    add(text);
  }
  return bytes;
}

Encoder encoded(std::initializer_list<uint64_t> integers) {
  Encoder encoder;
  for (const uint64_t value : integers) encoder.integer(value);
  return encoder;
}

// The message for a trace, without the position of the section.
std::string message_of(const std::vector<std::pair<SectionKind, Encoder>>& sections) {
  const Read result = read(with_sections(sections));
  const std::string message(result.status.message());
  return message.substr(message.find(": ") + 2);
}

// The message for a trace with one scope and these events.
std::string message_of(std::initializer_list<uint64_t> events) {
  Encoder scope;
  scope.string("heap");
  return message_of({{SectionKind::kScopes, scope}, {SectionKind::kEvents, encoded(events)}});
}

TEST(MemoryTrace, RejectsInvalidSections) {
  const Encoder past_end = encoded({100});
  EXPECT_EQ(message_of({{SectionKind::kProperties, past_end}}), "invalid properties");
  EXPECT_EQ(message_of({{SectionKind::kStrings, past_end}}), "invalid strings");
  EXPECT_EQ(message_of({{SectionKind::kScopes, past_end}}), "invalid memory scopes");
  EXPECT_EQ(message_of({{SectionKind::kStacks, encoded({0})}}), "invalid call stacks");
  EXPECT_EQ(message_of({{SectionKind::kStacks, encoded({1, 0})}}),
            "a call stack refers to a later entry");
  EXPECT_EQ(message_of({{SectionKind::kEvents, encoded({0})}}), "invalid events");
  EXPECT_EQ(message_of(
                {{SectionKind::kEvents, encoded({0, 9})}, {SectionKind::kEvents, encoded({0, 8})}}),
            "the time decreases");
  EXPECT_EQ(message_of({{SectionKind::kEnd, encoded({0})}}), "invalid totals");
  EXPECT_EQ(message_of({{SectionKind::kEnd, encoded({1, 0, 0, 0, 0})}}),
            "the totals do not match the events");
  Encoder deep;
  for (uint64_t caller = 0; caller <= kMaxStackDepth; ++caller) {
    deep.integer(caller);
    deep.integer(0);
  }
  EXPECT_EQ(message_of({{SectionKind::kStacks, deep}}), "a call stack of more than 255 frames");
  const Encoder end = encoded({0, 0, 0, 0, 0});
  EXPECT_EQ(message_of({{SectionKind::kEnd, end}, {SectionKind::kEnd, end}}),
            "unexpected bytes after the end of the trace");
  EXPECT_EQ(message_of({{static_cast<SectionKind>(9), end}}), "unknown kind 9");
}

TEST(MemoryTrace, RejectsInvalidEvents) {
  // The first two integers are the number of allocations before the section, and the time.
  EXPECT_EQ(message_of({1, 0}), "expected allocation 0, given 1: sections are missing");
  EXPECT_EQ(message_of({0, 0, 3, 0}), "unknown kind of event 3");
  EXPECT_EQ(message_of({0, 0, 1 | kHasAlignment, 0}), "unknown kind of event 33");
  EXPECT_EQ(message_of({0, 0, 1, 0, 0}), "an event of a block before the first one");
  EXPECT_EQ(message_of({0, 0, kNewScope, 0, 1, 8, 0}), "unknown memory scope");
  EXPECT_EQ(message_of({0, 0, kNewStack, 0, 1, 8, 0}), "unknown call stack");
  EXPECT_EQ(message_of({0, 0, kNewThread, 0, kMaxThreads, 8, 0}), "thread 1048576 is out of range");
  EXPECT_EQ(message_of({0, 0, 0, 0, kMaxBlockSize + 1, 0}),
            "an allocation of 140737488355329 bytes, expected at most 140737488355328");
  EXPECT_EQ(message_of({0, 0, kHasAlignment, 0, 40, 8, 0}),
            "an alignment of 1099511627776, expected at most 4294967296");
  EXPECT_EQ(message_of({0, 0, 0, 0, 8, 0, 1, 0, 0, 1, 0, 0}), "block 0 is used after its release");
  EXPECT_EQ(message_of({0, 1, 0, ~uint64_t{0}, 8, 0}), "the time overflows");
  EXPECT_EQ(message_of({0, 0, 0, 0, 8, zigzag(-4)}), "a block ends after the last address");
  EXPECT_EQ(message_of({0, 0, 0, 0, 8}), "an event is incomplete");
}

// Corrects the checksums of all blocks, so that the reader decodes mutated contents.
void correct_checksums(Bytes& bytes) {
  size_t at = kHeaderBytes;
  while (at + kSectionHeaderBytes <= bytes.size()) {
    const size_t size = bytes[at + 1] | bytes[at + 2] << 8 | bytes[at + 3] << 16 |
                        static_cast<size_t>(bytes[at + 4]) << 24;
    if (size > bytes.size() - at - kSectionHeaderBytes) return;
    const uint32_t sum =
        checksum(std::span<const uint8_t>(bytes).subspan(at + kSectionHeaderBytes, size));
    for (int i = 0; i < 4; ++i) bytes[at + 5 + i] = static_cast<uint8_t>(sum >> (8 * i));
    at += kSectionHeaderBytes + size;
  }
}

TEST(MemoryTrace, SurvivesMutations) {
  const Trace trace = random_trace(300);
  std::mt19937 random(1);
  int rejected = 0;
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes = trace.bytes;
    for (uint32_t change = random() % 4 + 1; change > 0; --change)
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    if (random() % 8 != 0) correct_checksums(bytes);
    const Read result = read(bytes);
    rejected += !result.status.ok();
    for (const Event& event : result.events) {
      ASSERT_LE(event.size, kMaxBlockSize);
      ASSERT_LT(event.block, trace.bytes.size());
    }
  }
  EXPECT_GT(rejected, 1000);
}

}  // namespace
}  // namespace scopevm::lab
