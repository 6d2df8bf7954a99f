// Descriptors and bins of runs; see page_heap.h.
#include "runtime/memory/pool/pages/page_heap.h"

#include <bit>

namespace scopevm::runtime {

bool PageHeap::reserve(size_t pages) {
  const size_t ids = pages + kBins + 1;
  if (!runs_.reserve(ids) || !links_.reserve(ids)) return false;
  for (int bin = 0; bin < kBins; ++bin) links_[head_of(bin)] = {head_of(bin), head_of(bin)};
  return true;
}

// Sizes below 64 pages have a bin each. A larger size keeps its six most significant bits.
int PageHeap::bin_of(uint32_t pages) {
  const int shift = pages < 64 ? 0 : std::bit_width(pages) - 6;
  return shift * 32 + static_cast<int>(pages >> shift);
}

// The first bin with a run at or after `from`; -1 if there is none.
int PageHeap::next_bin(int from) const {
  const auto word = static_cast<size_t>(from) / 64;
  if (word >= bin_bits_.size()) return -1;
  if (const uint64_t bits = bin_bits_[word] >> (from % 64); bits != 0)
    return from + std::countr_zero(bits);
  const uint32_t words = word_bits_ >> (word + 1) << (word + 1);
  if (words == 0) return -1;
  const int next = std::countr_zero(words);
  return next * 64 + std::countr_zero(bin_bits_[static_cast<size_t>(next)]);
}

RunId PageHeap::find(uint32_t pages) const {
  const int bin = bin_of(pages);
  RunId best = 0;
  uint32_t best_pages = UINT32_MAX;
  // Runs in the bin of the size can be smaller than the size.
  RunId id = links_[head_of(bin)].next;
  for (int i = 0; i < kCandidates && id != head_of(bin); ++i, id = links_[id].next)
    if (runs_[id].pages >= pages && runs_[id].pages < best_pages) {
      best = id;
      best_pages = runs_[id].pages;
    }
  if (best != 0) return best;
  const int next = next_bin(bin + 1);
  return next < 0 ? 0 : links_[head_of(next)].next;
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
  auto merged = static_cast<unsigned>(backing);
  if (const RunId before = runs_[id].before; before != 0 && runs_[before].is_free) {
    merged |= static_cast<unsigned>(runs_[before].backing);
    unlink(before);
    absorb_after(before);
    id = before;
  }
  if (const RunId after = runs_[id].after; after != 0 && runs_[after].is_free) {
    merged |= static_cast<unsigned>(runs_[after].backing);
    unlink(after);
    absorb_after(id);
  }
  runs_[id].is_free = true;
  runs_[id].backing = static_cast<Backing>(merged);
  link(id);
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
  RunId id = unused_;
  if (id != 0)
    unused_ = links_[id].next;
  else
    id = described_++;
  runs_[id] = run;
  return id;
}

void PageHeap::discard(RunId id) {
  links_[id].next = unused_;
  unused_ = id;
}

void PageHeap::link(RunId id) {
  const int bin = bin_of(runs_[id].pages);
  const RunId head = head_of(bin);
  const RunId next = links_[head].next;
  links_[id] = {next, head};
  links_[next].previous = id;
  links_[head].next = id;
  bin_bits_[static_cast<size_t>(bin) / 64] |= uint64_t{1} << (bin % 64);
  word_bits_ |= 1U << (bin / 64);
}

void PageHeap::unlink(RunId id) {
  const Links links = links_[id];
  links_[links.next].previous = links.previous;
  links_[links.previous].next = links.next;
  const int bin = bin_of(runs_[id].pages);
  const auto word = static_cast<size_t>(bin) / 64;
  bin_bits_[word] &= ~(static_cast<uint64_t>(links.next == links.previous) << (bin % 64));
  word_bits_ &= ~(static_cast<uint32_t>(bin_bits_[word] == 0) << word);
}

}  // namespace scopevm::runtime
