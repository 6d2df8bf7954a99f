// Merges the records of all threads by time, replaces addresses by blocks, and return addresses by
// names; see convert.h.
#include "tools/lab/record/convert.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <queue>
#include <unordered_map>

#include "tools/files/file.h"
#include "tools/lab/record/mappings.h"
#include "tools/lab/record/symbols.h"
#include "tools/lab/trace/trace_file.h"
#include "tools/lab/trace/trace_writer.h"
#include "tools/scopevm_record/spool.h"

namespace scopevm::lab {
namespace {

namespace fs = std::filesystem;
using record::Record;
using record::RecordKind;
using record::SpoolHeader;

// The records of one chunk that are not merged yet. They are in the order of time.
struct Sequence {
  const uint8_t* next;
  const uint8_t* end;
  uint64_t thread = 0;  // of the system

  const Record& front() const { return *reinterpret_cast<const Record*>(next); }
};

struct LaterFirst {
  bool operator()(const Sequence& a, const Sequence& b) const {
    return a.front().ticks > b.front().ticks;
  }
};

std::vector<Sequence> sequences_of(const runtime::MappedFile& file, const SpoolHeader& header) {
  std::vector<Sequence> sequences;
  for (uint64_t at = record::kHeaderBytes; at + record::kChunkBytes <= file.size;
       at += record::kChunkBytes) {
    const auto& chunk = *reinterpret_cast<const record::ChunkHeader*>(file.data + at);
    const uint64_t limit = record::kChunkBytes - sizeof(chunk);
    const uint64_t whole = std::min(chunk.used_bytes.load(), limit) /
                           record::record_bytes(header.depth) * record::record_bytes(header.depth);
    const uint8_t* begin = file.data + at + sizeof(chunk);
    if (whole > 0) sequences.push_back({begin, begin + whole});
  }
  return sequences;
}

class Conversion {
 public:
  Conversion(const RecordedImage& image, const SpoolHeader& header, double ticks_per_ns,
             std::string_view mappings)
      : header_(header),
        ticks_per_ns_(ticks_per_ns),
        symbols_(mappings),
        writer_(image.command),
        heap_(writer_.scope("heap")),
        mappings_(writer_) {}

  void add_all(std::vector<Sequence> sequences) {
    std::priority_queue<Sequence, std::vector<Sequence>, LaterFirst> queue(LaterFirst(),
                                                                           std::move(sequences));
    while (!queue.empty()) {
      Sequence sequence = queue.top();
      queue.pop();
      const Record& record = sequence.front();
      if (static_cast<RecordKind>(record.kind) == RecordKind::kThread)
        sequence.thread = record.address;
      else
        add(record, sequence.thread);
      sequence.next += record::record_bytes(header_.depth);
      if (sequence.next < sequence.end) queue.push(sequence);
    }
  }

  Result<TraceTotals> finish(const std::string& path) {
    SCOPEVM_ASSIGN_OR_RETURN(const TraceTotals totals,
                             writer_.finish(header_.lost_events, unknown_releases_));
    SCOPEVM_RETURN_IF_ERROR(write_trace(writer_, path));
    return totals;
  }

 private:
  void add(const Record& record, uint64_t thread) {
    Event event;
    const uint64_t elapsed =
        record.ticks > header_.start_ticks ? record.ticks - header_.start_ticks : 0;
    event.time_ns = last_ns_ =
        std::max(last_ns_, static_cast<uint64_t>(static_cast<double>(elapsed) / ticks_per_ns_));
    event.thread =
        threads_.try_emplace(thread, static_cast<uint32_t>(threads_.size())).first->second;
    event.scope = heap_;
    event.address = record.address;
    event.size = record.size;
    if (record.alignment_log2 > 0) event.alignment = uint64_t{1} << record.alignment_log2;
    switch (static_cast<RecordKind>(record.kind)) {
      case RecordKind::kAllocateZeroed:
        event.is_zeroed = true;
        [[fallthrough]];
      case RecordKind::kAllocate:
        event.stack = stack_of(record);
        return allocate(event);
      case RecordKind::kRelease:
        return release(event);
      case RecordKind::kReallocateBegin:
        return begin_reallocation(event);
      case RecordKind::kReallocateEnd:
        event.stack = stack_of(record);
        return end_reallocation(event);
      case RecordKind::kThread:
        return;
      default:
        return add_mapping(static_cast<RecordKind>(record.kind), event, record);
    }
  }

  void add_mapping(RecordKind kind, Event event, const Record& record) {
    event.scope = writer_.scope(kMappingScope);
    event.stack = stack_of(record);
    switch (kind) {
      case RecordKind::kMap:
      case RecordKind::kMapInaccessible:
        return mappings_.map(event, kind == RecordKind::kMap);
      case RecordKind::kUnmap:
        return mappings_.unmap(event);
      case RecordKind::kMakeAccessible:
      case RecordKind::kMakeInaccessible:
        return mappings_.protect(event, kind == RecordKind::kMakeAccessible);
      case RecordKind::kRemapBegin:
        return mappings_.begin_remap(event);
      case RecordKind::kRemapEnd:
        return mappings_.end_remap(event);
      default:
        return;
    }
  }

  void allocate(const Event& event) { blocks_[event.address] = writer_.allocate(event); }

  void release(Event event) {
    const auto found = blocks_.find(event.address);
    if (found == blocks_.end()) {
      ++unknown_releases_;
      return;
    }
    event.block = found->second;
    blocks_.erase(found);
    writer_.release(event);
  }

  // The old address is free for other threads until the end of the reallocation.
  void begin_reallocation(const Event& event) {
    Pending& pending = pending_[event.thread];
    pending = {event.address, std::nullopt};
    if (const auto found = blocks_.find(event.address); found != blocks_.end()) {
      pending.block = found->second;
      blocks_.erase(found);
    }
  }

  void end_reallocation(Event event) {
    const Pending pending = std::exchange(pending_[event.thread], {});
    const bool has_failed = event.address == 0 && event.size > 0;
    if (!pending.block) {
      // Allocated before the recording began.
      if (!has_failed) ++unknown_releases_;
      if (event.address != 0) allocate(event);
      return;
    }
    event.block = *pending.block;
    if (has_failed) {
      blocks_[pending.address] = event.block;
    } else if (event.address == 0) {  // realloc(block, 0)
      writer_.release(event);
    } else {
      blocks_[event.address] = event.block;
      writer_.reallocate(event);
    }
  }

  uint32_t stack_of(const Record& record) {
    uint32_t stack = 0;
    for (uint64_t i = header_.depth; i-- > 0;)
      if (record.frames[i] != 0) stack = writer_.stack(stack, symbols_.name(record.frames[i]));
    return stack;
  }

  struct Pending {
    uint64_t address = 0;
    std::optional<uint64_t> block;
  };

  const SpoolHeader& header_;
  const double ticks_per_ns_;
  Symbolizer symbols_;
  TraceWriter writer_;
  const uint32_t heap_;
  Mappings mappings_;
  uint64_t last_ns_ = 0;
  uint64_t unknown_releases_ = 0;
  std::unordered_map<uint64_t, uint64_t> blocks_;   // live blocks, by address
  std::unordered_map<uint64_t, uint32_t> threads_;  // of the system -> of the trace
  std::unordered_map<uint32_t, Pending> pending_;   // reallocations, by thread
};

// Checks what the recorder writes first and last.
Result<const SpoolHeader*> header_of(const runtime::MappedFile& file, const std::string& path) {
  const auto* header = reinterpret_cast<const SpoolHeader*>(file.data);
  if (file.size < record::kHeaderBytes || header->magic != record::kSpoolMagic ||
      header->depth < 1 || header->depth > record::kMaxDepth)
    return Status(StatusCode::kInvalidArgument, path + ": the recorder did not start");
  return header;
}

std::string command_of(const SpoolHeader& header) {
  std::string command(header.command,
                      std::min<uint64_t>(header.command_bytes, sizeof(header.command)));
  while (command.ends_with('\0')) command.pop_back();
  std::ranges::replace(command, '\0', ' ');
  return command;
}

// Parses "PID-N.events".
std::optional<RecordedImage> image_of(const fs::path& path) {
  const std::string name = path.stem().string();
  RecordedImage image;
  const char* const end = name.data() + name.size();
  const auto pid = std::from_chars(name.data(), end, image.pid);
  if (pid.ec != std::errc() || pid.ptr == end || *pid.ptr != '-') return std::nullopt;
  const auto number = std::from_chars(pid.ptr + 1, end, image.image);
  if (number.ec != std::errc() || number.ptr != end) return std::nullopt;
  image.spool = (path.parent_path() / name).string();
  return image;
}

}  // namespace

std::vector<RecordedImage> recorded_images(const std::string& folder) {
  std::vector<RecordedImage> images;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::optional<RecordedImage> image = image_of(entry.path());
    if (!image || entry.path().extension() != ".events") continue;
    const auto file = runtime::map_file(entry.path());
    if (!file.ok()) continue;
    const auto header = header_of(*file, entry.path());
    if (!header.ok()) continue;
    image->command = command_of(**header);
    images.push_back(*std::move(image));
  }
  std::ranges::sort(images, [](const RecordedImage& a, const RecordedImage& b) {
    return std::pair(a.pid, a.image) < std::pair(b.pid, b.image);
  });
  return images;
}

Result<TraceTotals> convert(const RecordedImage& image, double ticks_per_ns,
                            const std::string& path) {
  const std::string events = image.spool + ".events";
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, runtime::map_file(events));
  SCOPEVM_ASSIGN_OR_RETURN(const SpoolHeader* header, header_of(file, events));
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> mappings,
                           tool::read_file(image.spool + ".maps"));
  Conversion conversion(image, *header, ticks_per_ns,
                        {reinterpret_cast<const char*>(mappings.data()), mappings.size()});
  conversion.add_all(sequences_of(file, *header));
  return conversion.finish(path);
}

}  // namespace scopevm::lab
