// The spool: the files in which libscopevm_record.so stores the events of one process image while
// the process runs. `scopevm alloc record` converts them to memory traces (docs/memory-trace.md)
// and deletes them, so their format can change in any release.
//
//     PID-N.events   a header page, then chunks that threads fill with records
//     PID-N.maps     copies of /proc/self/maps, to symbolise return addresses
//
// N counts the images of a process: each successful execve() starts another one. Files are written
// through shared mappings, so the events up to a crash are in the file.
#pragma once

#include <atomic>
#include <cstdint>

namespace scopevm::record {

inline constexpr char kFolderVariable[] = "SCOPEVM_RECORD_FOLDER";
inline constexpr char kDepthVariable[] = "SCOPEVM_RECORD_DEPTH";
inline constexpr char kLimitVariable[] = "SCOPEVM_RECORD_LIMIT";  // bytes of the events of an image

inline constexpr uint64_t kSpoolMagic = 0x314c4f4f50534d56;
inline constexpr uint64_t kHeaderBytes = 4096;
// A thread claims this much at a time, with three system calls. Smaller chunks cost more calls,
// larger ones more disk space for threads that allocate little.
inline constexpr uint64_t kChunkBytes = uint64_t{256} << 10;
inline constexpr int kMaxDepth = 64;

enum class RecordKind : uint8_t {
  kAllocate = 1,
  kAllocateZeroed = 2,
  kRelease = 3,
  // A reallocation is two records, before and after the call of the system's function, because
  // other threads can allocate the old address in between.
  kReallocateBegin = 4,
  kReallocateEnd = 5,
  kThread = 6,  // the records that follow are those of the thread `address`
  // Anonymous mappings, by range. The range of a mapping need not be that of an mmap().
  kMap = 7,                // accessible memory; replaces the range
  kMapInaccessible = 8,    // reserved addresses; replaces the range
  kUnmap = 9,              // also: a file replaces the range
  kMakeAccessible = 10,    // mprotect()
  kMakeInaccessible = 11,  // mprotect()
  kRemapBegin = 12,        // the old range of mremap()
  kRemapEnd = 13,          // the new range; address 0 after a failure
};

struct Record {
  uint64_t ticks;  // see now_ticks()
  uint64_t address;
  uint64_t size : 48;
  uint64_t alignment_log2 : 8;  // 0: no required alignment
  uint64_t kind : 8;
  uint64_t frames[1];  // SpoolHeader::depth return addresses, the innermost first; 0: none
};

constexpr uint64_t record_bytes(uint64_t depth) { return sizeof(Record) + (depth - 1) * 8; }

struct SpoolHeader {
  uint64_t magic;
  uint32_t pid;
  uint32_t parent;
  uint64_t depth;
  uint64_t start_ticks;
  std::atomic<uint64_t> chunks;       // claimed
  std::atomic<uint64_t> lost_events;  // after the limit, or while no chunk could be mapped
  char command[2048];                 // the start of /proc/self/cmdline
  uint64_t command_bytes;
};
static_assert(sizeof(SpoolHeader) <= kHeaderBytes);

// Bytes of records in a chunk, after this header. Written after the record itself.
struct ChunkHeader {
  std::atomic<uint64_t> used_bytes;
};

}  // namespace scopevm::record
