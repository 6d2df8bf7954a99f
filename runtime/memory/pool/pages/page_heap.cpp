// Descriptors and bins of runs; see page_heap.h.
#include "runtime/memory/pool/pages/page_heap.h"

#include <bit>

namespace scopevm::runtime {

bool PageHeap::reserve(size_t pages) {
  const size_t ids = pages + described_;
  if (!runs_.reserve(ids) || !links_.reserve(ids) || !unused_.reserve(ids)) return false;
  for (uint32_t bin = 0; bin < kBins; ++bin) links_[head_of(bin)] = {head_of(bin), head_of(bin)};
  bin_bits_.back() = 1;
  return true;
}

// Sizes below 64 pages have a bin each. A larger size keeps its six most significant bits.
uint32_t PageHeap::bin_of(uint32_t pages) {
  const auto shift = static_cast<uint32_t>(std::bit_width(pages | 63)) - 6;
  return shift * 32 + (pages >> shift);
}

// The first bin with a run at or after `from`; kBins if there is none.
uint32_t PageHeap::next_bin(uint32_t from) const {
  uint32_t word = from / 64;
  if (const uint64_t bits = bin_bits_[word] >> (from % 64); bits != 0)
    return from + static_cast<uint32_t>(std::countr_zero(bits));
  do ++word;
  while (bin_bits_[word] == 0);
  return word * 64 + static_cast<uint32_t>(std::countr_zero(bin_bits_[word]));
}

RunId PageHeap::find(uint32_t pages) const {
  const uint32_t bin = bin_of(pages);
  if (links_[head_of(bin)].next != head_of(bin))
    if (const RunId best = find_in_bin(bin, pages)) return best;
  return links_[head_of(next_bin(bin + 1))].next;
}

// The best of the first runs of the bin of the size; 0 if they are smaller than the size.
[[gnu::noinline]] RunId PageHeap::find_in_bin(uint32_t bin, uint32_t pages) const {
  RunId best = 0;
  uint32_t best_pages = UINT32_MAX;
  RunId id = links_[head_of(bin)].next;
  for (int i = 0; i < kCandidates && id != head_of(bin); ++i, id = links_[id].next)
    if (runs_[id].pages >= pages && runs_[id].pages < best_pages) {
      best = id;
      best_pages = runs_[id].pages;
    }
  return best;
}

RunId PageHeap::allocate(uint32_t pages) {
  const RunId id = find(pages);
  if (id == 0) return 0;
  take(id);
  if (runs_[id].pages == pages) return id;
  const RunId rest = split(id, pages);
  runs_[rest].is_free = true;
  link(rest);
  return id;
}

void PageHeap::release(RunId id, Backing backing) {
  Run& released = runs_[id];
  const RunId before = if_free(released.before);
  const RunId after = if_free(released.after);
  unlink(before);
  unlink(after);
  const RunId next = after != 0 ? runs_[after].after : released.after;
  const RunId merged = before != 0 ? before : id;
  const uint32_t pages = runs_[before].pages + released.pages + runs_[after].pages;
  const unsigned backings = static_cast<unsigned>(backing) |
                            static_cast<unsigned>(runs_[before].backing) |
                            static_cast<unsigned>(runs_[after].backing);
  discard(before != 0 ? id : 0);
  discard(after);
  Run& run = runs_[merged];
  run.pages = pages;
  run.after = next;
  run.is_free = true;
  run.backing = static_cast<Backing>(backings);
  runs_[next].before = merged;  // no effect if `next` is 0
  link(merged);
}

RunId PageHeap::split(RunId id, uint32_t pages) {
  const Run& run = runs_[id];
  const RunId rest = describe({.first = run.first + pages,
                               .pages = run.pages - pages,
                               .before = id,
                               .after = run.after,
                               .backing = run.backing});
  if (run.after != 0) runs_[run.after].before = rest;
  runs_[id].after = rest;
  runs_[id].pages = pages;
  return rest;
}

RunId PageHeap::add(PageRange pages, RunId boundary) {
  const RunId before = boundary == 0 ? 0 : runs_[boundary].before;
  const RunId id =
      describe({.first = pages.first, .pages = pages.pages, .before = before, .after = boundary});
  if (boundary != 0) runs_[boundary].before = id;
  if (before != 0) runs_[before].after = id;
  return id;
}

void PageHeap::take(RunId id) {
  unlink(id);
  runs_[id].is_free = false;
}

void PageHeap::absorb_after(RunId id) {
  const RunId absorbed = runs_[id].after;
  const RunId after = runs_[absorbed].after;
  runs_[id].pages += runs_[absorbed].pages;
  runs_[id].after = after;
  if (after != 0) runs_[after].before = id;
  discard(absorbed);
}

RunId PageHeap::describe(const Run& run) {
  const RunId id = unused_count_ > 0 ? unused_[--unused_count_] : described_++;
  runs_[id] = run;
  return id;
}

void PageHeap::link(RunId id) {
  const uint32_t bin = bin_of(runs_[id].pages);
  const RunId head = head_of(bin);
  const RunId next = links_[head].next;
  runs_[id].bin = static_cast<uint16_t>(bin);
  links_[id] = {next, head};
  links_[next].previous = id;
  links_[head].next = id;
  bin_bits_[bin / 64] |= uint64_t{1} << (bin % 64);
}

// No effect for 0, whose bin has no runs.
void PageHeap::unlink(RunId id) {
  const Links links = links_[id];
  links_[links.next].previous = links.previous;
  links_[links.previous].next = links.next;
  const uint32_t bin = runs_[id].bin;
  bin_bits_[bin / 64] &= ~(uint64_t{links.next == links.previous} << (bin % 64));
}

}  // namespace scopevm::runtime
