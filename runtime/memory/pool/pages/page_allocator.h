// PageAllocator: allocates runs of pages, and decides how much free memory stays committed.
//
// Retention: the committed bytes are at most 3/2 of the recent maximum of the allocated bytes plus
// 1 MiB. Before a run needs clean pages above this bound, free pages are decommitted. The recent
// maximum covers the last kWindow steps at least, so that the memory of a single large request is
// returned after a number of smaller ones. The best fit needs up to 1.3 times the allocated bytes
// for random sizes. A bound of 5/4 returns pages that are about to be allocated: 213 instead of 33
// ns (bench/memory, `mixed`).
//
// The run of a block is found by the page of the block, in a table. Allocated runs have a minimum
// length, or an alignment, of several pages, so that an entry for each `granularity` pages
// suffices. An entry per page exceeds the second-level cache: 48 instead of 42 ns, and 67 instead
// of 45 ns on a busy machine (bench/memory, `mixed_long`). Not thread-safe.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "runtime/memory/pool/pages/page_heap.h"
#include "runtime/memory/pool/pages/page_space.h"
#include "runtime/memory/pool/pages/reserved_array.h"

namespace scopevm::runtime {

class PageAllocator {
 public:
  // `alignment_pages`: every run starts at a multiple of it; a power of two up to 512.
  // `granularity`: allocated runs have at least this many pages, or start at multiples of it; a
  // power of two.
  PageAllocator(PageSpace::Options options, uint32_t alignment_pages, uint32_t granularity)
      : space_(std::move(options)),
        alignment_(alignment_pages),
        granularity_log2_(std::countr_zero(granularity)) {}

  // Must succeed before other methods are called.
  bool reserve() {
    return space_.reserve() && heap_.reserve(space_.page_limit()) &&
           run_of_.reserve((space_.page_limit() >> granularity_log2_) + 1);
  }

  // Returns 0 if the pages would exceed the capacity, or the system or the source has no memory.
  RunId allocate(uint32_t pages) {
    note(live_ + pages);
    if (alignment_ == 1) [[likely]] {
      const RunId run = heap_.allocate(pages);
      // In the steady state, a free run with committed pages fits.
      if (run != 0 && heap_.run(run).backing == Backing::kDirty) [[likely]] {
        return add_live(run);
      }
      return commit(run != 0 ? run : grow(pages));
    }
    return allocate_aligned(pages);
  }
  void release(RunId run) {
    live_ -= heap_.run(run).pages;
    heap_.release(run, Backing::kDirty);
  }
  // Counts a step of the retention window.
  void step() { note(live_); }
  // Decommits all free pages and returns all free segments of a source.
  void trim();

  PageSpace& space() { return space_; }
  const PageSpace& space() const { return space_; }
  PageHeap& heap() { return heap_; }
  const PageHeap& heap() const { return heap_; }
  void* address(RunId run) const { return space_.address(heap_.run(run).first); }
  // The run that starts at `block`.
  RunId run_of(const void* block) const {
    return run_of_[space_.page_of(block) >> granularity_log2_];
  }
  // Like run_of(), but returns 0 if the run cannot be found without the pool's lock. The entry of
  // an allocated block does not change.
  RunId run_of_unlocked(const void* block) const {
    return run_of_[space_.page_in_first(block) >> granularity_log2_];
  }
  // Makes run_of() return an allocated run for all its pages. REQUIRES: the granularity is 1.
  void set_run_of_pages(RunId id) {
    const PageHeap::Run& run = heap_.run(id);
    for (Page page = run.first; page < run.first + run.pages; ++page) run_of_[page] = id;
  }
  // Calls body(id, run) for each run, in address order within a segment.
  template <typename Body>
  void for_each_run(Body body) const {
    space_.for_each_segment([&](RunId first) {
      for (RunId id = first; id != 0; id = heap_.run(id).after)
        if (heap_.run(id).pages > 0) body(id, heap_.run(id));
    });
  }
  int64_t live_bytes() const { return live_ * kPageBytes; }

 private:
  RunId allocate_aligned(uint32_t pages);
  RunId grow(uint32_t pages);
  RunId commit(RunId id);
  RunId add_live(RunId id) {
    const PageHeap::Run& run = heap_.run(id);
    live_ += run.pages;
    run_of_[run.first >> granularity_log2_] = id;
    return id;
  }
  void note(int64_t live) {
    current_peak_ = std::max(current_peak_, live);
    if (++steps_ == kWindow) [[unlikely]]
      end_window();
  }
  void end_window();
  int64_t retained_pages() const;
  void decommit_until(int64_t pages);
  bool return_largest_segment();

  // Steps until the recent maximum forgets a value: at least one window, at most two.
  static constexpr int kWindow = 4096;
  PageSpace space_;
  PageHeap heap_;
  const uint32_t alignment_;
  const int granularity_log2_;
  ReservedArray<RunId> run_of_;  // by the first page of an allocated run
  RunId boundary_ = 0;           // of the segment that grows
  int64_t live_ = 0;             // pages of all allocated runs
  int steps_ = 0;
  int64_t current_peak_ = 0;   // maximum of live_ in this window
  int64_t previous_peak_ = 0;  // maximum of live_ in the previous window
};

}  // namespace scopevm::runtime
