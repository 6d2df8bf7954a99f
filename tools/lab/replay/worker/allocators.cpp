// The table of allocators; see allocators.h.
#include "tools/lab/replay/worker/allocators.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "runtime/nearest_name.h"
#include "scopevm/allocators.h"

namespace scopevm::lab {
namespace {

// Tuned settings keep memory instead of returning it to the system: the largest effect that each
// library's documentation offers for a process of its own.
const AllocatorEntry kEntries[] = {
    {.name = "pool", .is_own = true},
    {.name = "arena", .is_own = true},
    {.name = "direct", .is_own = true},
    {.name = "glibc"},
    {.name = "glibc-tuned",
     .variables = {{"GLIBC_TUNABLES",
                    "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=4611686018427387904:"
                    "glibc.malloc.top_pad=16777216"}}},
    {.name = "mimalloc", .library = "libmimalloc.so.2", .package = "libmimalloc2.0"},
    {.name = "mimalloc-tuned",
     .library = "libmimalloc.so.2",
     .package = "libmimalloc2.0",
     .variables = {{"MIMALLOC_ALLOW_DECOMMIT", "0"}, {"MIMALLOC_PAGE_RESET", "0"}}},
    {.name = "jemalloc", .library = "libjemalloc.so.2", .package = "libjemalloc2"},
    {.name = "jemalloc-tuned",
     .library = "libjemalloc.so.2",
     .package = "libjemalloc2",
     .variables = {{"MALLOC_CONF",
                    "dirty_decay_ms:-1,muzzy_decay_ms:-1,oversize_threshold:0,narenas:1"}}},
    {.name = "tcmalloc", .library = "libtcmalloc_minimal.so.4", .package = "libtcmalloc-minimal4"},
    {.name = "tcmalloc-tuned",
     .library = "libtcmalloc_minimal.so.4",
     .package = "libtcmalloc-minimal4",
     .variables = {{"TCMALLOC_RELEASE_RATE", "0"},
                   {"TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES", "268435456"}}},
    {.name = "tbbmalloc", .library = "libtbbmalloc_proxy.so.2", .package = "libtbbmalloc2"},
    {.name = "tbbmalloc-tuned",
     .library = "libtbbmalloc_proxy.so.2",
     .package = "libtbbmalloc2",
     .variables = {{"TBB_MALLOC_SET_HUGE_SIZE_THRESHOLD", "4294967296"}}},
};

}  // namespace

std::span<const AllocatorEntry> allocator_entries() { return kEntries; }

Result<AllocatorEntry> find_allocator(const std::string& name) {
  std::vector<std::string> names;
  for (const AllocatorEntry& entry : kEntries) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  return Status(StatusCode::kInvalidArgument,
                "unknown allocator \"" + name + "\"" + runtime::name_suggestion(name, names));
}

std::shared_ptr<Allocator> make_own_allocator(std::string_view name, int64_t alignment) {
  AllocatorOptions options;
  options.alignment = alignment;
  Result<std::shared_ptr<Allocator>> allocator = make_allocator(name, std::move(options));
  return allocator.ok() ? *std::move(allocator) : nullptr;
}

std::string installed_library(const std::string& file) {
  const char* given = std::getenv("LD_LIBRARY_PATH");
  std::istringstream folders(std::string(given != nullptr ? given : "") +
                             ":/usr/local/lib:/usr/lib/" SCOPEVM_LIBRARY_ARCHITECTURE
                             ":/lib/" SCOPEVM_LIBRARY_ARCHITECTURE ":/usr/lib64:/usr/lib");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path path = std::filesystem::path(folder) / file;
    std::error_code error;
    if (!folder.empty() && std::filesystem::exists(path, error)) return path;
  }
  return "";
}

}  // namespace scopevm::lab
