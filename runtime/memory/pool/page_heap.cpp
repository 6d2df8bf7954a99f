// Boundary tags and bins of free runs; see page_heap.h.
#include "runtime/memory/pool/page_heap.h"

#include <bit>

namespace scopevm::runtime {

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
  const uint32_t words = word + 1 >= 32 ? 0 : word_bits_ >> (word + 1) << (word + 1);
  if (words == 0) return -1;
  const int next = std::countr_zero(words);
  return next * 64 + std::countr_zero(bin_bits_[static_cast<size_t>(next)]);
}

Page PageHeap::find(uint32_t pages) const {
  const int bin = bin_of(pages);
  Page best = 0;
  uint32_t best_pages = UINT32_MAX;
  // Runs in the bin of the size can be smaller than the size.
  Page run = bins_[static_cast<size_t>(bin)];
  for (int i = 0; i < kCandidates && run != 0; ++i, run = tags_[run].next)
    if (tags_[run].pages >= pages && tags_[run].pages < best_pages) {
      best = run;
      best_pages = tags_[run].pages;
    }
  if (best != 0) return best;
  const int next = next_bin(bin + 1);
  return next < 0 ? 0 : bins_[static_cast<size_t>(next)];
}

std::optional<Run> PageHeap::allocate(uint32_t pages, Backing& backing) {
  const Page first = find(pages);
  if (first == 0) return std::nullopt;
  const uint32_t available = tags_[first].pages;
  backing = tags_[first].backing;
  remove(first);
  if (available > pages) insert({first + pages, available - pages}, backing);
  mark_used({first, pages});
  return Run{first, pages};
}

void PageHeap::release(Run run, Backing backing) {
  auto merged = static_cast<unsigned>(backing);
  if (const Run before = free_before(run.first); before.pages > 0) {
    merged |= static_cast<unsigned>(tags_[before.first].backing);
    remove(before.first);
    run = {before.first, before.pages + run.pages};
  }
  const Page after = run.first + run.pages;
  if (after < capacity() && tags_[after].kind == Kind::kFree) {
    merged |= static_cast<unsigned>(tags_[after].backing);
    const uint32_t pages = tags_[after].pages;
    remove(after);
    run.pages += pages;
  }
  insert(run, static_cast<Backing>(merged));
}

void PageHeap::take(Run run) {
  remove(run.first);
  mark_used(run);
}

void PageHeap::mark_used(Run run) {
  Tag& first = tags_[run.first];
  first.pages = run.pages;
  first.kind = Kind::kUsed;
  tags_[run.first + run.pages - 1].kind = Kind::kUsed;
}

void PageHeap::split(Run run, uint32_t skipped, uint32_t pages) {
  if (skipped > 0) mark_used({run.first, skipped});
  mark_used({run.first + skipped, pages});
  const uint32_t rest = run.pages - skipped - pages;
  if (rest > 0) mark_used({run.first + skipped + pages, rest});
}

Run PageHeap::free_before(Page end) const {
  if (tags_[end - 1].kind != Kind::kFree) return {};
  const uint32_t pages = tags_[end - 1].pages;
  return {end - pages, pages};
}

uint32_t PageHeap::largest_free() const {
  return find_largest(1, [](Run, Backing) { return true; }).pages;
}

void PageHeap::insert(Run run, Backing backing) {
  const auto bin = static_cast<size_t>(bin_of(run.pages));
  const Page head = bins_[bin];
  tags_[run.first + run.pages - 1].pages = run.pages;
  tags_[run.first + run.pages - 1].kind = Kind::kFree;
  tags_[run.first] = {run.pages, Kind::kFree, backing, head, 0};
  if (head != 0) tags_[head].previous = run.first;
  bins_[bin] = run.first;
  bin_bits_[bin / 64] |= uint64_t{1} << (bin % 64);
  word_bits_ |= 1U << (bin / 64);
  free_pages_ += run.pages;
}

void PageHeap::remove(Page first) {
  const Tag& run = tags_[first];
  free_pages_ -= run.pages;
  if (run.next != 0) tags_[run.next].previous = run.previous;
  if (run.previous != 0) {
    tags_[run.previous].next = run.next;
    return;
  }
  const auto bin = static_cast<size_t>(bin_of(run.pages));
  bins_[bin] = run.next;
  if (run.next != 0) return;
  bin_bits_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
  if (bin_bits_[bin / 64] == 0) word_bits_ &= ~(1U << (bin / 64));
}

}  // namespace scopevm::runtime
