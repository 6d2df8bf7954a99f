// Divides, moves and releases blocks of mappings; see mappings.h.
#include "tools/lab/record/mappings.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace scopevm::lab {
namespace {

constexpr uint64_t kPage = 4096;

// The end of the range in whole pages.
uint64_t end_of(const Event& event) {
  return event.address + (event.size + kPage - 1) / kPage * kPage;
}

Event with_range(Event event, uint64_t begin, uint64_t end) {
  event.address = begin;
  event.size = end - begin;
  return event;
}

}  // namespace

void Mappings::insert(Event event, bool is_accessible) {
  Mapping mapping{.end = end_of(event), .is_accessible = is_accessible, .stack = event.stack};
  if (mapping.end <= event.address) return;
  if (is_accessible) mapping.block = writer_.allocate(event);
  mappings_[event.address] = mapping;
}

void Mappings::map(const Event& event, bool is_accessible) {
  cut(event);
  insert(event, is_accessible);
}

// Removes the range from all mappings.
void Mappings::cut(const Event& event) {
  const uint64_t begin = event.address, end = end_of(event);
  auto next = mappings_.upper_bound(begin);
  if (next != mappings_.begin() && std::prev(next)->second.end > begin) --next;
  while (next != mappings_.end() && next->first < end) {
    const uint64_t first = next->first;
    const Mapping old = next->second;
    next = mappings_.erase(next);
    Event change = event;
    change.block = old.block;
    change.stack = old.stack;
    bool has_block = old.is_accessible;
    if (first < begin) {
      if (has_block) writer_.reallocate(with_range(change, first, begin));
      has_block = false;
      mappings_[first] = {begin, old.is_accessible, old.block, old.stack};
    }
    if (old.end > end) {
      Mapping rest = old;
      const Event remaining = with_range(change, end, old.end);
      if (has_block)
        writer_.reallocate(remaining);
      else if (old.is_accessible)
        rest.block = writer_.allocate(remaining);
      has_block = false;
      mappings_[end] = rest;
    }
    if (has_block) writer_.release(change);
  }
}

void Mappings::protect(const Event& event, bool is_accessible) {
  const uint64_t begin = event.address, end = end_of(event);
  std::vector<std::pair<uint64_t, uint64_t>> changed;
  auto next = mappings_.upper_bound(begin);
  if (next != mappings_.begin() && std::prev(next)->second.end > begin) --next;
  for (; next != mappings_.end() && next->first < end; ++next)
    if (next->second.is_accessible != is_accessible)
      changed.emplace_back(std::max(begin, next->first), std::min(end, next->second.end));
  for (const auto& [low, high] : changed) map(with_range(event, low, high), is_accessible);
}

void Mappings::begin_remap(const Event& event) {
  Pending& pending = pending_[event.thread] = {.begin = event.address};
  const auto found = mappings_.find(event.address);
  if (found != mappings_.end() && found->second.end == end_of(event)) {
    pending.is_known = true;
    pending.mapping = found->second;
    mappings_.erase(found);
    return;
  }
  auto next = mappings_.upper_bound(event.address);
  if (next != mappings_.begin() && std::prev(next)->second.end > event.address) --next;
  pending.is_known = next != mappings_.end() && next->first < end_of(event);
  cut(event);
}

void Mappings::end_remap(const Event& event) {
  const Pending pending = std::exchange(pending_[event.thread], {});
  if (!pending.is_known) return;
  const bool has_failed = event.address == 0;
  if (!pending.mapping) {
    // A part of a mapping has become one of its own.
    if (!has_failed) map(event, true);
    return;
  }
  if (has_failed) {
    mappings_[pending.begin] = *pending.mapping;
    return;
  }
  cut(event);  // MREMAP_FIXED replaces the range
  Mapping mapping = *pending.mapping;
  mapping.end = end_of(event);
  mappings_[event.address] = mapping;
  if (!mapping.is_accessible) return;
  Event change = event;
  change.block = mapping.block;
  writer_.reallocate(change);
}

}  // namespace scopevm::lab
