// Floors of cliques and least offsets of items. Each rise of one can raise others; queues of
// cliques propagate the rises to a fixed point.
#include <algorithm>

#include "runtime/plan/search/exact_search.h"

namespace scopevm::plan {
namespace {

int64_t align_up(int64_t offset, int64_t alignment) {
  const int64_t excess = offset % alignment;
  return excess == 0 ? offset : offset + (alignment - excess);
}

// The finaliser of MurmurHash3.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

}  // namespace

SearchState::SearchState(const Instance& instance, const Cliques& cliques)
    : instance_(instance),
      ranges_(cliques),
      cliques_(cliques.count()),
      spanning_(cliques.count()),
      least_(instance.items.size()),
      members_(cliques.entries()),
      first_member_(cliques.count() + 1),
      position_(cliques.entries()),
      initial_slack_(cliques.count()) {
  const auto items = static_cast<int32_t>(instance.items.size());
  for (const Item& item : instance.items) sizes_.push_back(item.size);
  for (int32_t item = 0; item < items; ++item) {
    for (const CliqueRange& range : cliques.of(item)) {
      for (int32_t clique = range.begin; clique < range.end; ++clique) ++first_member_[clique + 1];
    }
  }
  for (int32_t clique = 0; clique < cliques.count(); ++clique)
    first_member_[clique + 1] += first_member_[clique];
  for (int32_t item = 0; item < items; ++item) add(item);
}

void SearchState::add(int32_t item) {
  const bool is_required = instance_.items[item].offset.has_value();
  for (const CliqueRange& range : ranges_.of(item)) {
    int32_t entry = range.entry;
    for (int32_t index = range.begin; index < range.end; ++index, ++entry) {
      Clique& clique = cliques_[index];
      position_[entry] = clique.unplaced++;
      members_[first_member_[index] + position_[entry]] = {item, entry};
      clique.required += is_required;
      initial_slack_[index] -= sizes_[item];
    }
  }
  const std::span<const CliqueRange> ranges = ranges_.of(item);
  for (int32_t clique = ranges.front().begin; clique + 1 < ranges.back().end; ++clique)
    ++spanning_[clique];
}

bool SearchState::reset(int64_t capacity) {
  undo(0);
  hash_ = 0;
  for (size_t item = 0; item < least_.size(); ++item) {
    least_[item] = instance_.items[item].offset.value_or(0);
    hash_ ^= key_of(static_cast<int32_t>(item));
  }
  for (size_t index = 0; index < cliques_.size(); ++index) {
    Clique& clique = cliques_[index];
    clique.floor = 0;
    clique.slack = capacity + initial_slack_[index];
    clique.candidates = -1;
    clique.lowest_end = 0;
    if (clique.slack < 0) return false;
  }
  for (size_t index = 0; index < cliques_.size(); ++index) enqueue(static_cast<int32_t>(index));
  return propagate();
}

uint64_t SearchState::key_of(int32_t item) const {
  return mix((static_cast<uint64_t>(item) + 1) * 0x9e3779b97f4a7c15ULL +
             static_cast<uint64_t>(least_[item]) * 0xd6e8feb86659fd93ULL);
}

void SearchState::enqueue(int32_t clique) {
  if (cliques_[clique].is_queued) return;
  cliques_[clique].is_queued = true;
  queue_.push_back(clique);
}

void SearchState::save(int32_t index) {
  const Clique& clique = cliques_[index];
  trail_.push_back(
      {Change::kClique, index, clique.candidates, clique.floor, clique.slack, clique.lowest_end});
}

// Raises the least offset of an item to `offset`, rounded up to its alignment.
bool SearchState::raise(int32_t item, int64_t offset) {
  const int64_t least = least_[item];
  const int64_t raised = align_up(offset, instance_.items[item].alignment);
  if (raised <= least) return true;
  if (instance_.items[item].offset) return false;
  trail_.push_back({Change::kLeast, item, 0, least, 0, 0});
  hash_ ^= key_of(item);
  least_[item] = raised;
  hash_ ^= key_of(item);
  for (const CliqueRange& range : ranges_.of(item)) {
    for (int32_t index = range.begin; index < range.end; ++index) {
      // Otherwise the floor stays as it is.
      if (least <= cliques_[index].floor) enqueue(index);
    }
    work_ += range.end - range.begin;
  }
  return true;
}

// Raises items that overlap with a required offset if they are placed at their least offset.
bool SearchState::raise_over_required(int32_t index) {
  for (const Member& fixed : members(index)) {
    const Item& required = instance_.items[fixed.item];
    if (!required.offset) continue;
    const int64_t end = *required.offset + required.size;
    for (const Member& member : members(index)) {
      const int64_t least = least_[member.item];
      if (member.item == fixed.item || least >= end) continue;
      if (least + sizes_[member.item] <= *required.offset) continue;
      if (!raise(member.item, end)) return false;
    }
    work_ += cliques_[index].unplaced;
  }
  return true;
}

// Propagates between a clique's floor and the least offsets of its unplaced items.
bool SearchState::update(int32_t index) {
  Clique& clique = cliques_[index];
  if (clique.unplaced == 0) return true;
  work_ += 2 * static_cast<uint64_t>(clique.unplaced);
  for (const Member& member : members(index)) {
    if (!raise(member.item, clique.floor)) return false;
  }
  if (clique.required > 0 && !raise_over_required(index)) return false;
  int64_t floor = kNever;
  for (const Member& member : members(index)) floor = std::min(floor, least_[member.item]);
  const int64_t slack = clique.slack - (floor - clique.floor);
  if (slack < 0) return false;
  // The lowest item has a least offset of at most `floor + slack`, because the bytes below it are
  // lost. The other items are above it.
  int64_t lowest_end = kNever;
  int32_t candidates = 0;
  for (const Member& member : members(index)) {
    const int64_t least = least_[member.item];
    if (least > floor + slack) continue;
    lowest_end = std::min(lowest_end, least + sizes_[member.item]);
    candidates += least == floor;
  }
  if (lowest_end == kNever) return false;  // an aligned offset above floor + slack
  if (floor != clique.floor || candidates != clique.candidates || lowest_end != clique.lowest_end)
    save(index);
  clique.floor = floor;
  clique.slack = slack;
  clique.candidates = candidates;
  clique.lowest_end = lowest_end;
  for (const Member& member : members(index)) {
    const int64_t least = least_[member.item];
    if (least > floor + slack && least < lowest_end && !raise(member.item, lowest_end))
      return false;
  }
  return true;
}

bool SearchState::propagate() {
  bool is_possible = true;
  for (size_t next = 0; next < queue_.size(); ++next) {
    const int32_t clique = queue_[next];
    cliques_[clique].is_queued = false;
    if (is_possible) is_possible = update(clique);
  }
  queue_.clear();
  return is_possible;
}

bool SearchState::place(int32_t item) {
  const int64_t offset = least_[item];
  trail_.push_back({Change::kPlaced, item, 0, 0, 0, 0});
  hash_ ^= key_of(item);
  bool is_possible = true;
  for (const CliqueRange& range : ranges_.of(item)) {
    int32_t entry = range.entry;
    for (int32_t index = range.begin; index < range.end; ++index, ++entry) {
      Clique& clique = cliques_[index];
      save(index);
      clique.slack -= offset - clique.floor;
      clique.floor = offset + sizes_[item];
      clique.required -= instance_.items[item].offset.has_value();
      is_possible &= clique.slack >= 0;
      remove_member(index, entry);
      enqueue(index);
    }
  }
  const std::span<const CliqueRange> ranges = ranges_.of(item);
  for (int32_t clique = ranges.front().begin; clique + 1 < ranges.back().end; ++clique)
    --spanning_[clique];
  if (is_possible) return propagate();
  for (const int32_t clique : queue_) cliques_[clique].is_queued = false;
  queue_.clear();
  return false;
}

// Swaps the member with the last of the unplaced members; undo() then only restores their number.
void SearchState::remove_member(int32_t index, int32_t entry) {
  Member* const first = members_.data() + first_member_[index];
  const int32_t last = --cliques_[index].unplaced;
  const int32_t position = position_[entry];
  std::swap(first[position], first[last]);
  position_[first[position].entry] = position;
  position_[entry] = last;
}

// A plan with the least sum of offsets has no item that can move down alone. So if an item is not
// placed at its least offset, another unplaced item overlaps with it there, and the item is placed
// on top of an item that is unplaced now.
bool SearchState::exclude(int32_t item) {
  if (instance_.items[item].offset) return false;
  int64_t lowest_end = kNever;
  bool is_blocked = false;
  for (const CliqueRange& range : ranges_.of(item)) {
    for (int32_t index = range.begin; index < range.end; ++index) {
      lowest_end = std::min(lowest_end, cliques_[index].lowest_end);
      is_blocked |= cliques_[index].candidates > 1;
    }
    work_ += range.end - range.begin;
  }
  return (is_blocked || can_block(item)) && raise(item, lowest_end) && propagate();
}

// True if another unplaced item can overlap with the item at its least offset.
bool SearchState::can_block(int32_t item) {
  const int64_t end = least_[item] + sizes_[item];
  for (const CliqueRange& range : ranges_.of(item)) {
    for (int32_t index = range.begin; index < range.end; ++index) {
      work_ += cliques_[index].unplaced;
      for (const Member& other : members(index)) {
        if (other.item != item && least_[other.item] < end) return true;
      }
    }
  }
  return false;
}

void SearchState::undo(size_t mark) {
  while (trail_.size() > mark) {
    const Undo change = trail_.back();
    trail_.pop_back();
    switch (change.change) {
      case Change::kLeast:
        hash_ ^= key_of(change.index);
        least_[change.index] = change.value;
        hash_ ^= key_of(change.index);
        break;
      case Change::kClique:
        cliques_[change.index].floor = change.value;
        cliques_[change.index].slack = change.slack;
        cliques_[change.index].candidates = change.candidates;
        cliques_[change.index].lowest_end = change.lowest_end;
        break;
      case Change::kPlaced:
        unplace(change.index);
        break;
    }
  }
}

void SearchState::unplace(int32_t item) {
  for (const CliqueRange& range : ranges_.of(item)) {
    for (int32_t index = range.begin; index < range.end; ++index) {
      ++cliques_[index].unplaced;
      cliques_[index].required += instance_.items[item].offset.has_value();
    }
  }
  const std::span<const CliqueRange> ranges = ranges_.of(item);
  for (int32_t clique = ranges.front().begin; clique + 1 < ranges.back().end; ++clique)
    ++spanning_[clique];
  hash_ ^= key_of(item);
}

}  // namespace scopevm::plan
