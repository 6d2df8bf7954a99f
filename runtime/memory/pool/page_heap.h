// PageHeap: the free and used runs of pages of a pool, by page number. It does not access the
// pages, so they can be device memory.
//
//   run    consecutive pages that are allocated, or free, together
//   tag    the entry of a page; the tags of the first and last page of a run describe the run
//          (boundary tags of Knuth), so that release() finds both neighbours in constant time
//   bin    a list of free runs of similar size. There are 32 bins per power of two, as in the
//          two-level segregated fit of Masmano et al. (TLSF), and a bitmap of the bins with runs
//
// allocate() takes the best of the first runs of the bin of the size, or a run of the next larger
// bin: a best fit up to 1/32. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "runtime/memory/pool/reserved_array.h"

namespace scopevm::runtime {

using Page = uint32_t;  // the number of a page; 0 is the null page
inline constexpr int64_t kPageBytes = 4096;

struct Run {
  Page first = 0;
  uint32_t pages = 0;
};

// The commit state of the pages of a free run.
enum class Backing : uint8_t { kClean = 1, kDirty = 2, kMixed = 3 };

class PageHeap {
 public:
  enum class Kind : uint8_t { kBoundary, kFree, kUsed, kSlab };
  struct Tag {
    uint32_t pages;  // of the run, in the tags of its first and last page
    Kind kind;
    Backing backing;        // of a free run, in the tag of its first page
    uint32_t next;          // next free run of the bin; in a slab, the slab's number
    uint32_t previous;      // previous free run of the bin
  };

  // Pages have numbers below `pages`. Returns false if the system refuses memory for the tags.
  bool reserve(size_t pages) { return tags_.reserve(pages); }
  size_t capacity() const { return tags_.size(); }

  // Allocates a run of `pages` pages. Sets `backing` to that of the free run that contained it. No
  // value if no free run is large enough.
  std::optional<Run> allocate(uint32_t pages, Backing& backing);
  // Adds a run: one that was allocated, or new pages. Merges it with adjacent free runs.
  void release(Run run, Backing backing);
  // Removes the pages of a free run from the bins, and marks them as allocated.
  void take(Run run);
  // Divides an allocated run into at most three: its first `skipped` pages, the next `pages`, and
  // the rest.
  void split(Run run, uint32_t skipped, uint32_t pages);
  // Replaces the backing of a free run.
  void set_backing(Run run, Backing backing) { tags_[run.first].backing = backing; }

  // The free run that ends before page `end`; no pages if that page is not free.
  Run free_before(Page end) const;
  // The largest free run of at least `min_pages` for which `accepts(run, backing)` is true; no pages
  // if there is none. Takes time in proportion to the number of free runs.
  template <typename Accepts>
  Run find_largest(uint32_t min_pages, Accepts accepts) const;
  template <typename Body>
  void for_each_free(Body body) const;
  uint32_t largest_free() const;
  uint32_t free_pages() const { return free_pages_; }

  Tag& tag(Page page) { return tags_[page]; }
  const Tag& tag(Page page) const { return tags_[page]; }

 private:
  static constexpr int kBins = 896;
  static int bin_of(uint32_t pages);
  Page find(uint32_t pages) const;
  int next_bin(int from) const;
  void insert(Run run, Backing backing);
  void remove(Page first);
  void mark_used(Run run);

  // Runs compared in the bin of the size before a larger bin is used.
  static constexpr int kCandidates = 8;
  ReservedArray<Tag> tags_;
  std::array<Page, kBins> bins_{};
  std::array<uint64_t, kBins / 64> bin_bits_{};  // bit i: bins_[i] has a run
  uint32_t word_bits_ = 0;                       // bit i: bin_bits_[i] is not 0
  uint32_t free_pages_ = 0;
};

template <typename Accepts>
Run PageHeap::find_largest(uint32_t min_pages, Accepts accepts) const {
  Run largest;
  for (int bin = kBins - 1; bin >= bin_of(min_pages) && largest.pages == 0; --bin)
    for (Page run = bins_[static_cast<size_t>(bin)]; run != 0; run = tags_[run].next) {
      const Tag& tag = tags_[run];
      if (tag.pages > largest.pages && tag.pages >= min_pages &&
          accepts(Run{run, tag.pages}, tag.backing))
        largest = {run, tag.pages};
    }
  return largest;
}

template <typename Body>
void PageHeap::for_each_free(Body body) const {
  for (const Page head : bins_)
    for (Page run = head; run != 0; run = tags_[run].next) body(Run{run, tags_[run].pages});
}

}  // namespace scopevm::runtime
