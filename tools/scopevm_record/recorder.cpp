// The spool of this process: one mapped chunk per thread; see recorder.h.
//
// All files are opened, mapped and closed at once. The recorder therefore holds no descriptor that
// the program could close, inherit or observe as a gap in its own numbers.
#include "tools/scopevm_record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>

#include "tools/scopevm_record/stack.h"
#include "tools/scopevm_record/ticks.h"

namespace scopevm::record {
namespace {

constexpr uint64_t kDefaultLimit = uint64_t{4} << 30;

// The process, as seen by one program image. A child of fork() has its own.
struct Process {
  SpoolHeader* header = nullptr;  // null: not recorded
  char path[1024];                // of the spool without its extension
  uint64_t depth = 1;
  uint64_t max_chunks = 0;
  uint32_t generation = 0;  // of the spool; 0: none yet
};
Process process;

// A page that the kernel clears in a child of fork(), whichever function creates the child. It
// contains process.generation in a recorded process. pthread_atfork() would miss clone() and run
// after handlers that allocate.
volatile uint32_t* live_generation = nullptr;

struct Thread {
  uint32_t generation = 0;  // of the spool that `chunk` is part of
  bool is_busy = false;     // inside the recorder: further events are ignored
  ChunkHeader* chunk = nullptr;
  uint64_t used_bytes = 0;
};
__thread Thread thread;

// Guards start_process() and the chunks of ended threads. A child resets it: the parent's thread
// that held it does not exist there.
std::atomic_flag lock = ATOMIC_FLAG_INIT;
void acquire() {
  while (lock.test_and_set(std::memory_order_acquire)) sched_yield();
}
void release() { lock.clear(std::memory_order_release); }

constexpr int kMaxFreeChunks = 1024;
ChunkHeader* free_chunks[kMaxFreeChunks];
int free_chunk_count = 0;
pthread_key_t thread_end;
bool has_thread_end = false;

// Not mmap() and munmap(): those of this library record.
void* map_memory(uint64_t bytes, int protection, int flags, int file, uint64_t offset) {
  return std::bit_cast<void*>(
      syscall(SYS_mmap, nullptr, bytes, protection, flags, file, static_cast<off_t>(offset)));
}
void unmap_memory(void* address, uint64_t bytes) { syscall(SYS_munmap, address, bytes); }

void* map_shared(const char* path, int flags, uint64_t offset, uint64_t bytes) {
  errno = 0;
  const int file = open(path, flags | O_CLOEXEC | O_RDWR, 0600);
  if (file < 0) return nullptr;
  // Reserves the disk space: a write to a mapped page without space would end the program.
  // Populated, because 64 page faults per chunk cost more.
  void* mapped = MAP_FAILED;
  if (posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0)
    mapped = map_memory(bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, offset);
  close(file);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

void extend_path(char (&out)[1100], const char* extension) {
  snprintf(out, sizeof(out), "%s.%s", process.path, extension);
}

uint64_t read_whole(const char* path, char* buffer, uint64_t bytes) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  uint64_t used = 0;
  for (ssize_t count = 1; count > 0 && used < bytes; used += count > 0 ? count : 0)
    count = read(file, buffer + used, bytes - used);
  close(file);
  return used;
}

// Appends the current mappings to the spool, for libraries that are loaded or unloaded later.
void save_mappings() {
  char path[1100];
  extend_path(path, "maps");
  const int out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const int in = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  char buffer[4096];
  for (ssize_t count = 1; out >= 0 && in >= 0 && count > 0;) {
    count = read(in, buffer, sizeof(buffer));
    if (count > 0 && write(out, buffer, static_cast<size_t>(count)) != count) count = 0;
  }
  if (in >= 0) close(in);
  if (out >= 0) close(out);
}

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* text = getenv(variable);
  return text == nullptr ? otherwise : strtoull(text, nullptr, 10);
}

// Creates the spool of this image. An image after execve() has the same process number.
SpoolHeader* create_spool(const char* folder) {
  for (int image = 0; image < 10000; ++image) {
    snprintf(process.path, sizeof(process.path), "%s/%d-%d", folder, getpid(), image);
    char path[1100];
    extend_path(path, "events");
    if (auto* header = map_shared(path, O_CREAT | O_EXCL, 0, kHeaderBytes); header != nullptr)
      return static_cast<SpoolHeader*>(header);
    if (errno != EEXIST) return nullptr;
  }
  return nullptr;
}

bool has_space_for(uint64_t records) {
  return thread.used_bytes + records * record_bytes(process.depth) <=
         kChunkBytes - sizeof(ChunkHeader);
}

// At the end of a thread. Programs can start a thread per request, so the next thread continues the
// chunk.
void recycle_chunk(void* /*value*/) {
  if (thread.is_busy || thread.chunk == nullptr || thread.generation != process.generation) return;
  acquire();
  if (has_space_for(2) && free_chunk_count < kMaxFreeChunks)
    free_chunks[free_chunk_count++] = thread.chunk;
  else
    unmap_memory(thread.chunk, kChunkBytes);
  thread.chunk = nullptr;
  release();
}

void make_live_page() {
  if (live_generation != nullptr) return;
  void* page = map_memory(4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  madvise(page, 4096, MADV_WIPEONFORK);
  live_generation = static_cast<volatile uint32_t*>(page);
  has_thread_end = pthread_key_create(&thread_end, recycle_chunk) == 0;
}

// REQUIRES: the lock is held.
void start_process() {
  make_live_page();
  const char* folder = getenv(kFolderVariable);
  if (live_generation == nullptr || folder == nullptr) return;
  free_chunk_count = 0;
  const uint64_t depth = number_of(kDepthVariable, 1);
  process.depth = depth < 1 ? 1 : depth > kMaxDepth ? kMaxDepth : depth;
  process.max_chunks = number_of(kLimitVariable, kDefaultLimit) / kChunkBytes;
  process.header = create_spool(folder);
  if (SpoolHeader* header = process.header; header != nullptr) {
    header->pid = static_cast<uint32_t>(getpid());
    header->parent = static_cast<uint32_t>(getppid());
    header->depth = process.depth;
    header->start_ticks = now_ticks();
    header->command_bytes =
        read_whole("/proc/self/cmdline", header->command, sizeof(header->command));
    header->magic = kSpoolMagic;
    save_mappings();
  }
  *live_generation = ++process.generation;
}

// Whether this process has started its spool, or a parent has started one before fork().
bool is_started() { return live_generation != nullptr && *live_generation != 0; }

ChunkHeader* claim_chunk() {
  acquire();
  ChunkHeader* chunk = free_chunk_count > 0 ? free_chunks[--free_chunk_count] : nullptr;
  release();
  if (chunk != nullptr) return chunk;
  const uint64_t index = process.header->chunks.load(std::memory_order_relaxed);
  if (index >= process.max_chunks) return nullptr;
  const uint64_t claimed = process.header->chunks.fetch_add(1, std::memory_order_relaxed);
  char path[1100];
  extend_path(path, "events");
  // A library that was loaded since the last chunk can be the caller of the events so far.
  save_mappings();
  return static_cast<ChunkHeader*>(
      map_shared(path, 0, kHeaderBytes + claimed * kChunkBytes, kChunkBytes));
}

void append(const RecordedEvent& event, uint64_t ticks, const void* caller) {
  auto* record =
      reinterpret_cast<Record*>(reinterpret_cast<char*>(thread.chunk + 1) + thread.used_bytes);
  record->ticks = ticks;
  record->address = event.address;
  record->size = event.size;
  record->alignment_log2 =
      event.alignment == 0 ? 0 : static_cast<unsigned>(__builtin_ctzl(event.alignment));
  record->kind = static_cast<uint8_t>(event.kind);
  record->frames[0] = reinterpret_cast<uint64_t>(caller);
  if (process.depth > 1) capture_stack(caller, record->frames, process.depth);
  thread.used_bytes += record_bytes(process.depth);
  // Readers of the file after a crash see complete records only.
  thread.chunk->used_bytes.store(thread.used_bytes, std::memory_order_release);
}

// Gives the thread a chunk with space for two records: the thread's number, and an event. Returns
// false if the process is not recorded, or has reached its limit.
__attribute__((noinline)) bool prepare_thread() {
  if (environ == nullptr) return false;  // the C library is not initialised yet
  if (!is_started()) {
    if (process.generation != 0) lock.clear();  // a child of fork(): see `lock`
    acquire();
    if (!is_started()) start_process();
    release();
  }
  if (process.header == nullptr) return false;
  if (thread.generation == process.generation && thread.chunk != nullptr)
    unmap_memory(thread.chunk, kChunkBytes);  // full
  thread.generation = process.generation;
  thread.chunk = claim_chunk();
  if (thread.chunk == nullptr) return false;
  thread.used_bytes = thread.chunk->used_bytes.load(std::memory_order_relaxed);
  if (has_thread_end) pthread_setspecific(thread_end, &thread);
  append({RecordKind::kThread, static_cast<uint64_t>(syscall(SYS_gettid))}, now_ticks(), nullptr);
  return true;
}

bool has_space() {
  return thread.chunk != nullptr && thread.generation != 0 && live_generation != nullptr &&
         thread.generation == *live_generation && has_space_for(1);
}

__attribute__((constructor)) void start() {
  thread.is_busy = true;
  prepare_thread();
  thread.is_busy = false;
}

__attribute__((destructor)) void finish() {
  if (is_started() && process.header != nullptr) save_mappings();
}

}  // namespace

void store(const RecordedEvent& event, uint64_t ticks, const void* caller) {
  if (thread.is_busy) return;
  thread.is_busy = true;
  const int saved = errno;
  if (has_space() || prepare_thread())
    append(event, ticks, caller);
  else if (process.header != nullptr)
    process.header->lost_events.fetch_add(1, std::memory_order_relaxed);
  errno = saved;
  thread.is_busy = false;
}

}  // namespace scopevm::record
