// PageSpace: the addresses and the backing of the pages of a pool.
//
//   segment   consecutive pages with consecutive addresses. Host memory has one segment: a range of
//             addresses that is reserved once and grows at its end. A BlockSource supplies a
//             segment per block
//   commit    a page is committed when it has been allocated and has not been decommitted since:
//             it then counts as memory of the process. Pages of a BlockSource are always committed
//
// Two segments are separated by a page number that is never used, so that runs of different
// segments do not merge. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/memory/pool/pages/page_heap.h"
#include "runtime/memory/pool/pages/reserved_array.h"
#include "scopevm/allocators.h"

namespace scopevm::runtime {

// A maximum of the committed bytes of several spaces.
struct CommitBudget {
  int64_t capacity_bytes = -1;  // negative: none
  int64_t committed = 0;        // pages
};

class PageSpace {
 public:
  struct Options {
    std::shared_ptr<BlockSource> source;  // null: the operating system
    // The committed bytes of the spaces that share it.
    std::shared_ptr<CommitBudget> budget = std::make_shared<CommitBudget>();
    int64_t chunk_bytes = 0;         // minimum size of a block of `source`
    int64_t alignment = kPageBytes;  // of the blocks of `source`
    HugePages huge_pages = HugePages::kAutomatic;
  };
  explicit PageSpace(Options options);
  ~PageSpace();
  PageSpace(const PageSpace&) = delete;
  PageSpace& operator=(const PageSpace&) = delete;

  // Reserves the page numbers; page_limit() is then their number. Returns false if the system
  // refuses the addresses of its tables.
  bool reserve();
  size_t page_limit() const { return committed_bits_.size() * 64; }

  // Adds clean pages at the end of the last segment. No value if the last segment cannot grow.
  std::optional<PageRange> extend(uint32_t pages);
  // Adds a segment with at least `pages` pages and returns all its pages (of a source), or the
  // first `pages` (of the system). No value if the system or the source refuses.
  std::optional<PageRange> add_segment(uint32_t pages);
  // Returns a whole segment to the source.
  void return_segment(PageRange run);
  void* address(Page page) const {
    if (page - first_.page < first_.pages) [[likely]]
      return first_.base + int64_t{page - first_.page} * kPageBytes;
    return address_in_segments(page);
  }
  Page page_of(const void* block) const {
    const Page page = page_in_first(block);
    return page != 0 ? page : page_in_segments(block);
  }
  // The page of a block in the first segment of host memory, which is never removed; 0 for other
  // blocks. Thread-safe for a block that is allocated.
  Page page_in_first(const void* block) const {
    // A block before the segment wraps to a large page number.
    const uintptr_t page =
        (reinterpret_cast<uintptr_t>(block) - reinterpret_cast<uintptr_t>(first_.base)) /
        kPageBytes;
    return page < first_.pages ? first_.page + static_cast<Page>(page) : 0;
  }

  // Stores the first run of the last added segment, for for_each_segment().
  void set_first_run(PageRange segment, RunId id);
  // Calls body(first_run) for each segment.
  template <typename Body>
  void for_each_segment(Body body) const {
    for (const Segment& segment : segments_)
      if (segment.base != nullptr) body(segment.first_run);
  }

  // The number of pages of a run that are not committed.
  uint32_t clean_pages(PageRange run) const;
  // Commits the pages of a run. The system supplies their memory at the first access.
  void commit(PageRange run);
  // Returns the memory of a run to the system. Returns the number of pages that were committed.
  // Only whole huge pages are returned if `whole_huge_pages`, because the system splits a huge page
  // to return a part of it. REQUIRES: no source.
  uint32_t decommit(PageRange run, bool whole_huge_pages);

  bool has_source() const { return options_.source != nullptr; }
  int64_t committed_bytes() const { return committed_ * kPageBytes; }
  // The bytes that can still be committed.
  int64_t room_bytes() const;
  // System calls, or calls of the source, that supply or return memory.
  int64_t upstream_calls() const { return upstream_calls_; }

 private:
  struct Segment {
    char* base;  // null: returned to the source; its page numbers can be used again
    Page first;
    uint32_t pages;       // reserved
    uint32_t used;        // pages that were added by extend() or add_segment()
    uint32_t accessible;  // pages that the process can access
    int64_t bytes;        // of the mapping or of the block
    RunId first_run = 0;
  };

  void count_committed(int64_t pages);
  std::optional<PageRange> add_system_segment(uint32_t pages);
  std::optional<PageRange> add_source_segment(uint32_t pages);
  bool make_accessible(Segment& segment, uint32_t pages);
  void* address_in_segments(Page page) const;
  Page page_in_segments(const void* block) const;
  const Segment& segment_of(Page page) const;
  Segment& segment_of(Page page);
  Page next_first() const;

  const Options options_;
  std::vector<Segment> segments_;  // in the order of their page numbers
  // The first segment of host memory. Others exist only if the addresses of the process are
  // limited.
  struct {
    char* base;
    Page page;
    uint32_t pages;
  } first_{};
  ReservedArray<uint64_t> committed_bits_;
  int64_t committed_ = 0;  // pages; they also count in options_.budget
  int64_t upstream_calls_ = 0;
};

}  // namespace scopevm::runtime
