// Reserves, commits and decommits pages; see page_space.h.
#include "runtime/memory/pool/pages/page_space.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "runtime/memory/sources/available_memory.h"
#include "runtime/memory/sources/block_sources.h"

namespace scopevm::runtime {
namespace {

constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr uint32_t kHugePages = kHugePage / kPageBytes;  // pages per huge page
// Addresses of a segment without a limit of the address space: 1 TiB of the 128 TiB of a process.
constexpr int64_t kSegmentBytes = int64_t{1} << 40;
// Pages of all segments of a pool with a source: 256 GiB.
constexpr int64_t kSourceBytes = int64_t{1} << 38;
// The first 4 MiB have no huge pages, so that a small pool does not use 2 MiB.
constexpr uint32_t kSmallPages = 2 * kHugePages;
// Pages become accessible in steps, so that growth needs few system calls.
constexpr uint32_t kAccessStep = 16 * kHugePages;

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// The limit of the address space; -1: none.
int64_t address_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return -1;
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, INT64_MAX));
}

}  // namespace

PageSpace::PageSpace(Options options) : options_(std::move(options)) {}

PageSpace::~PageSpace() {
  options_.budget->committed -= committed_;
  for (const Segment& segment : segments_) {
    if (segment.base == nullptr) continue;
    if (has_source())
      options_.source->deallocate(segment.base, segment.bytes);
    else
      munmap(segment.base, static_cast<size_t>(segment.bytes));
  }
}

bool PageSpace::reserve() {
  const int64_t limit = address_limit();
  // Page 0 and the pages between segments are unused.
  int64_t bytes = has_source() ? kSourceBytes : 2 * kSegmentBytes;
  if (limit >= 0) bytes = std::min(bytes, round_up(limit, kHugePage));
  return committed_bits_.reserve(static_cast<size_t>(bytes / kPageBytes / 64) + 1);
}

Page PageSpace::next_first() const {
  // Page numbers of system segments are multiples of huge pages like their addresses.
  if (segments_.empty()) return kHugePages;
  const Segment& last = segments_.back();
  return static_cast<Page>(round_up(int64_t{last.first} + last.pages + 1, kHugePages));
}

std::optional<PageRange> PageSpace::extend(uint32_t pages) {
  if (segments_.empty() || has_source()) return std::nullopt;
  Segment& last = segments_.back();
  if (pages > last.pages - last.used || !is_available(int64_t{pages} * kPageBytes) ||
      !make_accessible(last, last.used + pages))
    return std::nullopt;
  const PageRange added{last.first + last.used, pages};
  last.used += pages;
  return added;
}

std::optional<PageRange> PageSpace::add_segment(uint32_t pages) try {
  segments_.reserve(segments_.size() + 1);
  return has_source() ? add_source_segment(pages) : add_system_segment(pages);
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

std::optional<PageRange> PageSpace::add_system_segment(uint32_t pages) {
  const int64_t needed = round_up(pages * kPageBytes, kHugePage) + kHugePage;
  const int64_t limit = address_limit();
  // With a limit of the address space, a segment must leave room for other memory.
  int64_t bytes = std::max(needed, limit < 0 ? kSegmentBytes : round_up(limit / 64, kHugePage));
  const Page first = next_first();
  for (;; bytes = std::max(needed, bytes / 2)) {
    if (int64_t{first} + bytes / kPageBytes <= static_cast<int64_t>(page_limit())) {
      void* base = mmap(nullptr, static_cast<size_t>(bytes), PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      ++upstream_calls_;
      if (base != MAP_FAILED) {
        // The first huge page boundary; the addresses before it are not used.
        const int64_t skipped = -reinterpret_cast<intptr_t>(base) & (kHugePage - 1);
        if (skipped > 0) munmap(base, static_cast<size_t>(skipped));
        const int64_t usable = bytes - skipped;
        segments_.push_back({static_cast<char*>(base) + skipped, first,
                             static_cast<uint32_t>(usable / kPageBytes), 0, 0, usable});
        if (std::optional<PageRange> run = extend(pages)) {
          const Segment& added = segments_.back();
          if (segments_.size() == 1) first_ = {added.base, added.first, added.pages};
          return run;
        }
        munmap(segments_.back().base, static_cast<size_t>(usable));
        segments_.pop_back();
        return std::nullopt;
      }
    }
    if (bytes == needed) return std::nullopt;
  }
}

bool PageSpace::make_accessible(Segment& segment, uint32_t pages) {
  if (pages > segment.accessible) {
    const auto wanted =
        static_cast<uint32_t>(std::min<int64_t>(segment.pages, round_up(pages, kAccessStep)));
    ++upstream_calls_;
    if (mprotect(segment.base + segment.accessible * kPageBytes,
                 static_cast<size_t>(wanted - segment.accessible) * kPageBytes,
                 PROT_READ | PROT_WRITE) != 0)
      return false;
    segment.accessible = wanted;
  }
  if (options_.huge_pages == HugePages::kNever) return true;
  // Whole huge pages only: the pages after the end are not in use, and would count as memory.
  const bool is_always = options_.huge_pages == HugePages::kAlways;
  const auto start = static_cast<uint32_t>(
      round_up(std::max(segment.used, is_always ? 0 : kSmallPages), kHugePages));
  const uint32_t end = is_always ? segment.accessible : pages / kHugePages * kHugePages;
  if (start < end) {
    ++upstream_calls_;
    // A failure is ignored: huge pages are an optimisation.
    (void)madvise(segment.base + start * kPageBytes, static_cast<size_t>(end - start) * kPageBytes,
                  MADV_HUGEPAGE);
  }
  return true;
}

std::optional<PageRange> PageSpace::add_source_segment(uint32_t pages) {
  // Blocks grow with the pool, so that it has a few dozen segments at most.
  const int64_t wanted = std::max({int64_t{pages} * kPageBytes, options_.chunk_bytes,
                                   round_up(committed_bytes() / 8, kPageBytes)});
  if (pages * kPageBytes > room_bytes()) return std::nullopt;
  for (int64_t bytes = std::min(wanted, room_bytes() / kPageBytes * kPageBytes);;
       bytes = pages * kPageBytes) {
    const auto count = static_cast<uint32_t>(bytes / kPageBytes);
    // A returned segment of the same or a larger size has unused page numbers.
    auto reused = std::ranges::find_if(
        segments_, [&](const Segment& s) { return s.base == nullptr && s.pages >= count; });
    const Page first = reused != segments_.end() ? reused->first : next_first();
    if (int64_t{first} + count < static_cast<int64_t>(page_limit())) {
      ++upstream_calls_;
      if (void* base = allocate_without_exceptions(*options_.source, bytes, options_.alignment)) {
        if (reused == segments_.end())
          reused = segments_.insert(segments_.end(), {nullptr, first, count, 0, 0, 0});
        reused->base = static_cast<char*>(base);
        reused->used = reused->accessible = count;
        reused->bytes = bytes;
        commit({first, count});
        return PageRange{first, count};
      }
    }
    if (bytes == pages * kPageBytes) return std::nullopt;
  }
}

void PageSpace::return_segment(PageRange run) {
  Segment& segment = segment_of(run.first);
  ++upstream_calls_;
  options_.source->deallocate(segment.base, segment.bytes);
  segment.base = nullptr;
  count_committed(-int64_t{run.pages});
  for (Page page = run.first; page < run.first + run.pages; ++page)
    committed_bits_[page / 64] &= ~(uint64_t{1} << (page % 64));
}

const PageSpace::Segment& PageSpace::segment_of(Page page) const {
  auto segment = segments_.begin();
  while (page - segment->first >= segment->pages) ++segment;
  return *segment;
}

PageSpace::Segment& PageSpace::segment_of(Page page) {
  return const_cast<Segment&>(std::as_const(*this).segment_of(page));
}

void PageSpace::set_first_run(PageRange segment, RunId id) {
  segment_of(segment.first).first_run = id;
}

void* PageSpace::address_in_segments(Page page) const {
  const Segment& segment = segment_of(page);
  return segment.base + int64_t{page - segment.first} * kPageBytes;
}

Page PageSpace::page_in_segments(const void* block) const {
  auto segment = segments_.begin();
  // A block before the segment wraps to a large offset.
  while (segment->base == nullptr ||
         reinterpret_cast<uintptr_t>(block) - reinterpret_cast<uintptr_t>(segment->base) >=
             static_cast<uintptr_t>(segment->used) * kPageBytes)
    ++segment;
  return segment->first +
         static_cast<Page>((static_cast<const char*>(block) - segment->base) / kPageBytes);
}

namespace {

// Calls `body` with each word of a bitmap that has bits of the run, and the mask of these bits.
template <typename Body>
void for_words(PageRange run, Body body) {
  for (uint64_t bit = run.first, end = bit + run.pages; bit < end;) {
    const uint64_t last = std::min(end, (bit / 64 + 1) * 64);
    const uint64_t mask = (~uint64_t{0} >> (64 - (last - bit))) << (bit % 64);
    body(bit / 64, mask);
    bit = last;
  }
}

}  // namespace

uint32_t PageSpace::clean_pages(PageRange run) const {
  int dirty = 0;
  for_words(run, [&](uint64_t word, uint64_t mask) {
    dirty += std::popcount(committed_bits_[word] & mask);
  });
  return run.pages - static_cast<uint32_t>(dirty);
}

void PageSpace::commit(PageRange run) {
  count_committed(clean_pages(run));
  for_words(run, [&](uint64_t word, uint64_t mask) { committed_bits_[word] |= mask; });
}

uint32_t PageSpace::decommit(PageRange run, bool whole_huge_pages) {
  if (whole_huge_pages && options_.huge_pages != HugePages::kNever && run.first >= kSmallPages) {
    // Page numbers have the alignment of their addresses.
    const auto first = static_cast<Page>(round_up(run.first, kHugePages));
    const Page end = (run.first + run.pages) / kHugePages * kHugePages;
    if (end <= first) return 0;
    run = {first, end - first};
  }
  const uint32_t dirty = run.pages - clean_pages(run);
  if (dirty == 0) return 0;
  ++upstream_calls_;
  if (madvise(address(run.first), static_cast<size_t>(run.pages) * kPageBytes, MADV_DONTNEED) != 0)
    return 0;
  for_words(run, [&](uint64_t word, uint64_t mask) { committed_bits_[word] &= ~mask; });
  count_committed(-int64_t{dirty});
  return dirty;
}

void PageSpace::count_committed(int64_t pages) {
  committed_ += pages;
  options_.budget->committed += pages;
}

int64_t PageSpace::room_bytes() const {
  const CommitBudget& budget = *options_.budget;
  if (budget.capacity_bytes < 0) return INT64_MAX;
  return round_up(budget.capacity_bytes, kPageBytes) - budget.committed * kPageBytes;
}

}  // namespace scopevm::runtime
