// Growth, alignment and retention of runs of pages; see page_allocator.h.
#include "runtime/memory/pool/page_allocator.h"

namespace scopevm::runtime {
namespace {

// Free pages that always stay committed: 1 MiB.
constexpr int64_t kAlwaysRetained = (int64_t{1} << 20) / kPageBytes;
// Smaller runs are not decommitted automatically: a system call costs as much as their faults.
constexpr uint32_t kMinDecommit = 64;

bool is_dirty(Backing backing) { return backing != Backing::kClean; }

}  // namespace

std::optional<Page> PageAllocator::allocate(uint32_t pages) {
  note(live_ + pages);
  // A run that is longer by alignment_ - 1 pages contains an aligned run.
  const uint32_t padded = pages + alignment_ - 1;
  Backing backing = Backing::kDirty;
  std::optional<Run> run = allocate_run(padded, backing);
  if (!run) return std::nullopt;
  if (alignment_ > 1) trim_alignment(*run, pages, backing);
  if (is_dirty(backing) && backing != Backing::kMixed) {
    live_ += pages;
    return run->first;
  }
  if (!commit(*run)) {
    heap_.release(*run, backing);
    return std::nullopt;
  }
  live_ += pages;
  return run->first;
}

void PageAllocator::release(Run run) {
  live_ -= run.pages;
  heap_.release(run, Backing::kDirty);
}

std::optional<Run> PageAllocator::allocate_run(uint32_t pages, Backing& backing) {
  if (std::optional<Run> run = heap_.allocate(pages, backing)) return run;
  return grow(pages, backing);
}

// Adds new pages. In host memory, a free run at the end of the segment is extended.
std::optional<Run> PageAllocator::grow(uint32_t pages, Backing& backing) {
  if (space_.has_source()) {
    const std::optional<Run> segment = space_.add_segment(pages);
    if (!segment) return std::nullopt;
    heap_.release(*segment, Backing::kDirty);
    return heap_.allocate(pages, backing);
  }
  const Page end = space_.end();
  const Run before = end == 0 ? Run{} : heap_.free_before(end);
  if (std::optional<Run> added = space_.extend(pages - before.pages)) {
    backing = Backing::kMixed;
    heap_.release(*added, Backing::kClean);
    const Run run{end - before.pages, pages};
    heap_.take(run);
    return run;
  }
  backing = Backing::kClean;
  std::optional<Run> run = space_.add_segment(pages);
  if (!run) return std::nullopt;
  heap_.release(*run, backing);
  heap_.take(*run);
  return run;
}

// Returns the pages before the first aligned page, and those after the `pages` that follow it.
void PageAllocator::trim_alignment(Run& run, uint32_t pages, Backing backing) {
  const uint32_t skipped = -run.first & (alignment_ - 1);
  const Run rest{run.first + skipped + pages, run.pages - skipped - pages};
  // Each part gets tags of its own before a neighbour is merged with it.
  heap_.split(run, skipped, pages);
  if (skipped > 0) heap_.release({run.first, skipped}, backing);
  if (rest.pages > 0) heap_.release(rest, backing);
  run = {run.first + skipped, pages};
}

// Commits the clean pages of a run. Returns false if the capacity does not suffice.
bool PageAllocator::commit(Run run) {
  const int64_t clean = space_.clean_pages(run);
  if (clean == 0) return true;
  const int64_t committed = space_.committed_bytes() / kPageBytes;
  if (committed + clean > retained_pages()) decommit_until(retained_pages() - clean);
  if (clean * kPageBytes > space_.room_bytes()) {
    trim();
    if (clean * kPageBytes > space_.room_bytes()) return false;
  }
  space_.commit(run);
  return true;
}

void PageAllocator::note(int64_t live) {
  current_peak_ = std::max(current_peak_, live);
  if (++steps_ < kWindow) return;
  steps_ = 0;
  previous_peak_ = current_peak_;
  current_peak_ = live_;
  decommit_until(retained_pages());
}

int64_t PageAllocator::retained_pages() const {
  const int64_t peak = std::max(previous_peak_, current_peak_);
  return peak + peak / 8 + kAlwaysRetained;
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
    Run run = heap_.find_largest(kMinDecommit, [](Run, Backing b) { return is_dirty(b); });
    if (run.pages == 0) return;
    // The rest of the run stays committed, so that fewer pages fault again.
    if (run.pages > excess + kMinDecommit) {
      const auto kept = static_cast<uint32_t>(run.pages - excess) / 512 * 512;
      if (space_.decommit({run.first + kept, run.pages - kept}, true) > 0) {
        heap_.set_backing(run, Backing::kMixed);
        continue;
      }
    }
    space_.decommit(run, true);
    // Its first and last pages can be dirty if they share a huge page with other runs. They count
    // as clean here: only trim() decommits them.
    heap_.set_backing(run, Backing::kClean);
  }
}

bool PageAllocator::return_largest_segment() {
  const Run run = heap_.find_largest(1, [this](Run r, Backing) { return space_.is_segment(r); });
  if (run.pages == 0) return false;
  heap_.take(run);
  space_.return_segment(run);
  return true;
}

void PageAllocator::trim() {
  current_peak_ = previous_peak_ = live_;
  if (space_.has_source()) {
    while (return_largest_segment()) {
    }
    return;
  }
  heap_.for_each_free([this](Run run) {
    space_.decommit(run, false);
    heap_.set_backing(run, Backing::kClean);
  });
}

}  // namespace scopevm::runtime
