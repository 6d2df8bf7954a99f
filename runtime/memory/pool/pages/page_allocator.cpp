// Growth, alignment and retention of runs of pages; see page_allocator.h.
#include "runtime/memory/pool/pages/page_allocator.h"

#include <optional>

namespace scopevm::runtime {
namespace {

// Free pages that always stay committed: 1 MiB.
constexpr int64_t kAlwaysRetained = (int64_t{1} << 20) / kPageBytes;
// Smaller runs are not decommitted automatically: a system call costs as much as their faults.
constexpr uint32_t kMinDecommit = 64;
constexpr uint32_t kHugePagePages = 512;

bool is_dirty(const PageHeap::Run& run) { return run.backing != Backing::kClean; }

}  // namespace

// Allocates a longer run, which contains an aligned one, and frees the rest.
RunId PageAllocator::allocate_aligned(uint32_t pages) {
  const uint32_t padded = pages + alignment_ - 1;
  RunId id = heap_.allocate(padded);
  if (id == 0) id = grow(padded);
  if (id == 0) return 0;
  const Backing backing = heap_.run(id).backing;
  if (const uint32_t skipped = -heap_.run(id).first & (alignment_ - 1); skipped > 0) {
    const RunId aligned = heap_.split(id, skipped);
    heap_.release(id, backing);
    id = aligned;
  }
  if (heap_.run(id).pages > pages) heap_.release(heap_.split(id, pages), backing);
  return commit(id);
}

// Adds new pages. A free run at the end of the segment that grows is extended.
RunId PageAllocator::grow(uint32_t pages) {
  if (boundary_ != 0) {
    const RunId last = heap_.run(boundary_).before;
    const bool extends = last != 0 && heap_.run(last).is_free;
    if (const std::optional<PageRange> added =
            space_.extend(pages - (extends ? heap_.run(last).pages : 0))) {
      const RunId id = heap_.add(*added, boundary_);
      heap_.run(id).backing = Backing::kClean;
      if (!extends) return id;
      heap_.take(last);
      heap_.absorb_after(last);
      heap_.run(last).backing = Backing::kMixed;
      return last;
    }
  }
  const std::optional<PageRange> added = space_.add_segment(pages);
  if (!added) return 0;
  if (!space_.has_source()) boundary_ = heap_.add_boundary();
  const RunId id = heap_.add(*added, space_.has_source() ? 0 : boundary_);
  // The first run keeps its id: a run is merged into the run before it, and split() returns the
  // second part.
  space_.set_first_run(*added, id);
  heap_.run(id).backing = space_.has_source() ? Backing::kDirty : Backing::kClean;
  if (added->pages > pages) heap_.release(heap_.split(id, pages), heap_.run(id).backing);
  return id;
}

// Commits the clean pages of an allocated run, and counts the run as live. Frees the run and
// returns 0 if the capacity does not suffice.
RunId PageAllocator::commit(RunId id) {
  if (id == 0) return 0;
  const PageHeap::Run& run = heap_.run(id);
  const PageRange range{run.first, run.pages};
  if (run.backing != Backing::kDirty) {
    const int64_t clean = space_.clean_pages(range);
    const int64_t committed = space_.committed_bytes() / kPageBytes;
    if (committed + clean > retained_pages()) decommit_until(retained_pages() - clean);
    if (clean * kPageBytes > space_.room_bytes()) {
      heap_.release(id, run.backing);
      return 0;
    }
    if (clean > 0) space_.commit(range);
    // The rest of the free run is checked once, so that later runs from it need no check.
    if (run.after != 0 && heap_.run(run.after).is_free) {
      PageHeap::Run& rest = heap_.run(run.after);
      if (space_.clean_pages({rest.first, rest.pages}) == 0) rest.backing = Backing::kDirty;
    }
  }
  return add_live(id);
}

void PageAllocator::end_window() {
  steps_ = 0;
  previous_peak_ = current_peak_;
  current_peak_ = live_;
  decommit_until(retained_pages());
}

int64_t PageAllocator::retained_pages() const {
  const int64_t peak = std::max(previous_peak_, current_peak_);
  return peak + peak / 2 + kAlwaysRetained;
}

// Decommits free pages, largest runs first, until at most `pages` pages are committed, or only
// small free runs are left.
void PageAllocator::decommit_until(int64_t pages) {
  for (;;) {
    const int64_t excess = space_.committed_bytes() / kPageBytes - pages;
    if (excess <= 0) return;
    if (space_.has_source()) {
      if (!return_largest_segment()) return;
      continue;
    }
    const RunId id = heap_.find_largest(kMinDecommit, is_dirty);
    if (id == 0) return;
    PageHeap::Run& run = heap_.run(id);
    const PageRange range{run.first, run.pages};
    // The start of a long run stays committed, so that fewer pages fault again.
    const int64_t kept = (range.pages - excess) / kHugePagePages * kHugePagePages;
    if (kept > 0) {
      const auto skipped = static_cast<uint32_t>(kept);
      run.backing = Backing::kMixed;
      if (space_.decommit({range.first + skipped, range.pages - skipped}, true) > 0) continue;
    }
    space_.decommit(range, true);
    // Its first and last pages can be dirty if they share a huge page with other runs. They count
    // as clean here: only trim() decommits them.
    run.backing = Backing::kClean;
  }
}

bool PageAllocator::return_largest_segment() {
  const RunId id = heap_.find_largest(
      1, [](const PageHeap::Run& run) { return run.before == 0 && run.after == 0; });
  if (id == 0) return false;
  const PageRange segment{heap_.run(id).first, heap_.run(id).pages};
  heap_.take(id);
  heap_.remove_segment(id);
  space_.return_segment(segment);
  return true;
}

void PageAllocator::trim() {
  current_peak_ = previous_peak_ = live_;
  if (space_.has_source()) {
    while (return_largest_segment()) {
    }
    return;
  }
  heap_.for_each_free([this](PageHeap::Run& run) {
    space_.decommit({run.first, run.pages}, false);
    run.backing = Backing::kClean;
  });
}

}  // namespace scopevm::runtime
