// PageHeap: the free and used runs of pages. It does not access the pages, so they can be device
// memory.
//
//   run   consecutive pages that are allocated, or free, together. Its descriptor has links to the
//         runs before and after it, so that release() merges free runs in constant time
//   bin   a circular list of free runs of similar size. There are 32 bins per power of two, as in
//         the two-level segregated fit of Masmano et al. (TLSF), and a bitmap of the bins with runs
//
// allocate() takes the best of the first runs of the bin of the size, or a run of the next larger
// bin: a best fit up to 1/32. Descriptors are stored densely, not by page number, so that they
// occupy few cache lines. Not thread-safe.
//
// Whether the neighbours of a released run are free cannot be predicted. release() has no branch
// that depends on it: descriptor 0, which has no pages, replaces a neighbour that is not free (36
// instead of 40 ns, bench/memory, `mixed_long`).
#pragma once

#include <array>
#include <cstdint>

#include "runtime/memory/pool/pages/reserved_array.h"

namespace scopevm::runtime {

using Page = uint32_t;   // the number of a page
using RunId = uint32_t;  // the number of a descriptor; 0: none
inline constexpr int64_t kPageBytes = 4096;

struct PageRange {
  Page first = 0;
  uint32_t pages = 0;
};

// Which pages of a run are committed (page_space.h).
enum class Backing : uint8_t { kClean = 1, kDirty = 2, kMixed = 3 };

class PageHeap {
 public:
  struct alignas(32) Run {
    Page first;
    uint32_t pages;
    RunId before;  // in address order; 0 at the start of a segment
    RunId after;   // in address order; 0 at the end of a segment
    bool is_free;
    Backing backing;  // of a free run
    uint16_t bin;     // of a free run
  };

  // Pages have numbers below `pages`. Returns false if the system refuses memory for the tables.
  bool reserve(size_t pages);
  // Run ids are below it.
  size_t max_runs() const { return runs_.size(); }

  // Allocates a run of `pages` pages. `backing` of the descriptor is that of the free run that
  // contained it. Returns 0 if no free run is large enough.
  RunId allocate(uint32_t pages);
  // Frees a run and merges it with adjacent free runs.
  void release(RunId run, Backing backing);
  // Divides an allocated run at its page `pages`. Returns the second part, which is allocated too.
  RunId split(RunId run, uint32_t pages);
  // Adds an allocated run of new pages: before a boundary, or as a whole segment (0).
  RunId add(PageRange pages, RunId boundary);
  // Adds the boundary of a segment that grows: an allocated run without pages that is always the
  // last run of the segment.
  RunId add_boundary() { return describe({}); }
  // Marks a free run as allocated.
  void take(RunId run);
  // Extends an allocated run by the run after it, which is free or allocated.
  void absorb_after(RunId run);
  // Removes an allocated run that is a whole segment.
  void remove_segment(RunId run) { discard(run); }

  // The largest free run of at least `min_pages` for which `accepts(run)` is true; 0 if there is
  // none. Takes time in proportion to the number of free runs.
  template <typename Accepts>
  RunId find_largest(uint32_t min_pages, Accepts accepts) const;
  // Calls body(run) for each free run. `body` must not allocate or release runs.
  template <typename Body>
  void for_each_free(Body body);

  Run& run(RunId id) { return runs_[id]; }
  const Run& run(RunId id) const { return runs_[id]; }

 private:
  static constexpr uint32_t kBins = 896;
  // Runs compared in the bin of the size before a larger bin is used.
  static constexpr int kCandidates = 8;
  static uint32_t bin_of(uint32_t pages);
  static RunId head_of(uint32_t bin) { return bin + 1; }
  RunId find(uint32_t pages) const;
  RunId find_in_bin(uint32_t bin, uint32_t pages) const;
  uint32_t next_bin(uint32_t from) const;
  RunId if_free(RunId id) const { return id & -RunId{runs_[id].is_free}; }
  void link(RunId id);
  void unlink(RunId id);
  RunId describe(const Run& run);
  // Adds a descriptor to the unused ones. No effect for 0.
  void discard(RunId id) {
    unused_[unused_count_] = id;
    unused_count_ += id != 0 ? 1 : 0;
  }

  // Neighbours in a bin. The head of a bin is an id without a run. The links are apart from the
  // runs so that the heads of all bins occupy 7 KiB.
  struct Links {
    RunId next;
    RunId previous;
  };
  ReservedArray<Run> runs_;      // run 0 has no pages and is not free
  ReservedArray<Links> links_;   // by run
  ReservedArray<RunId> unused_;  // a stack of unused descriptors
  size_t unused_count_ = 0;
  RunId described_ = kBins + 2;  // descriptors from here on have never been used
  // Bit i: bin i has a run. The last word is that of the bin after the last one, whose list has the
  // single element 0.
  std::array<uint64_t, kBins / 64 + 1> bin_bits_{};
};

template <typename Accepts>
RunId PageHeap::find_largest(uint32_t min_pages, Accepts accepts) const {
  RunId largest = 0;
  for (uint32_t bin = kBins; bin-- > bin_of(min_pages) && largest == 0;)
    for (RunId id = links_[head_of(bin)].next; id != head_of(bin); id = links_[id].next)
      if (runs_[id].pages >= min_pages &&
          (largest == 0 || runs_[id].pages > runs_[largest].pages) && accepts(runs_[id]))
        largest = id;
  return largest;
}

template <typename Body>
void PageHeap::for_each_free(Body body) {
  for (uint32_t bin = 0; bin < kBins; ++bin)
    for (RunId id = links_[head_of(bin)].next; id != head_of(bin); id = links_[id].next)
      body(runs_[id]);
}

}  // namespace scopevm::runtime
