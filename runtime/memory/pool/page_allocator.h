// PageAllocator: allocates runs of pages, and decides how much free memory stays committed.
//
// Retention: the committed bytes are at most 9/8 of the recent maximum of the allocated bytes plus
// 1 MiB. Before a run needs clean pages above this bound, free pages are decommitted. The recent
// maximum covers the last kWindow steps at least, so that the memory of a single large request is
// returned after a number of smaller ones. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "runtime/memory/pool/page_heap.h"
#include "runtime/memory/pool/page_space.h"

namespace scopevm::runtime {

class PageAllocator {
 public:
  // `alignment_pages`: every run starts at a multiple of it; a power of two up to 512.
  PageAllocator(PageSpace::Options options, uint32_t alignment_pages)
      : space_(std::move(options)), alignment_(alignment_pages) {}

  // Must succeed before other methods are called.
  bool reserve() { return space_.reserve() && heap_.reserve(space_.page_limit()); }

  // No value if the pages would exceed the capacity, or the system or the source has no memory.
  std::optional<Page> allocate(uint32_t pages);
  void release(Run run);
  // Counts a step of the retention window.
  void step() { note(live_); }
  // Decommits all free pages and returns all free segments of a source.
  void trim();

  PageSpace& space() { return space_; }
  const PageSpace& space() const { return space_; }
  PageHeap& heap() { return heap_; }
  const PageHeap& heap() const { return heap_; }
  int64_t live_bytes() const { return live_ * kPageBytes; }

 private:
  std::optional<Run> allocate_run(uint32_t pages, Backing& backing);
  std::optional<Run> grow(uint32_t pages, Backing& backing);
  bool commit(Run run);
  void trim_alignment(Run& run, uint32_t pages, Backing backing);
  void note(int64_t live);
  int64_t retained_pages() const;
  void decommit_until(int64_t pages);
  void decommit_some(int64_t excess);
  bool return_largest_segment();

  // Steps until the recent maximum forgets a value: at least one window, at most two.
  static constexpr int kWindow = 256;
  PageSpace space_;
  PageHeap heap_;
  const uint32_t alignment_;
  int64_t live_ = 0;  // pages of all allocated runs
  int steps_ = 0;
  int64_t current_peak_ = 0;   // maximum of live_ in this window
  int64_t previous_peak_ = 0;  // maximum of live_ in the previous window
};

}  // namespace scopevm::runtime
