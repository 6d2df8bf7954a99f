// The tree of the exact search, with an explicit stack because it is as deep as there are items.
#include "runtime/plan/search/exact_search.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace scopevm::plan {
namespace {

// Steps of loops between two checks of the deadline: about 1 ms.
constexpr uint64_t kCheckedWork = 1 << 20;
constexpr size_t kMostFailures = 1 << 18;  // 4 MiB

}  // namespace

ExactSearch::ExactSearch(const Instance& instance, const Cliques& cliques)
    : SearchState(instance, cliques),
      priorities(instance.items.size()),
      failures_(std::min(std::bit_ceil(512 * instance.items.size()), kMostFailures)) {}

SearchOutcome ExactSearch::run(int64_t capacity, int64_t most_placements,
                               const Deadline& deadline) {
  search_capacity_ = capacity;
  if (!reset(capacity)) return SearchOutcome::kInfeasible;
  nodes_.clear();
  placements_ = 0;
  nodes_.push_back({0, ranges_.count(), 0, -1, trail_.size(), trail_.size(), 0, 0});
  return search(most_placements, deadline);
}

SearchOutcome ExactSearch::search(int64_t most_placements, const Deadline& deadline) {
  Step step = next_part(nodes_.back());
  uint64_t checked_work = work_;
  while (true) {
    switch (step) {
      case Step::kDescend:
        step = is_failed(nodes_.back()) ? Step::kFail : branch(nodes_.back());
        break;
      case Step::kFound:
        nodes_.pop_back();
        if (nodes_.empty()) return SearchOutcome::kFound;
        step = next_part(nodes_.back());
        break;
      case Step::kFail:
        undo(nodes_.back().start);
        record_failure(nodes_.back());
        nodes_.pop_back();
        if (nodes_.empty()) return SearchOutcome::kInfeasible;
        step = exclude_item(nodes_.back());
        break;
    }
    if (placements_ >= most_placements) return SearchOutcome::kTimeout;
    if (work_ - checked_work < kCheckedWork) continue;
    checked_work = work_;
    if (deadline.is_over()) return SearchOutcome::kTimeout;
  }
}

// Places an item.
ExactSearch::Step ExactSearch::branch(Node& node) {
  while (true) {
    const int32_t clique = select_clique(node);
    if (clique < 0) return Step::kFound;
    node.item = select_item(clique);
    node.mark = trail_.size();
    node.next = node.begin;
    ++placements_;
    if (place(node.item)) return next_part(node);
    undo(node.mark);
    if (!exclude(node.item)) return Step::kFail;
  }
}

// After the item's branch failed.
ExactSearch::Step ExactSearch::exclude_item(Node& node) {
  if (node.item < 0) return Step::kFail;
  undo(node.mark);
  return exclude(node.item) ? branch(node) : Step::kFail;
}

// Items that no unplaced item connects are independent: if one part fails, so does the node.
ExactSearch::Step ExactSearch::next_part(Node& node) {
  int32_t begin = node.next;
  while (begin < node.end && cliques_[begin].unplaced == 0) ++begin;
  if (begin == node.end) return Step::kFound;
  int32_t end = begin + 1;
  while (end < node.end && spanning_[end - 1] > 0) ++end;
  node.next = end;
  int32_t rest = end;
  while (rest < node.end && cliques_[rest].unplaced == 0) ++rest;
  work_ += rest - begin;
  const uint64_t others = rest == node.end ? node.others : hash_ ^ hash_of(begin, end);
  nodes_.push_back({begin, end, begin, -1, trail_.size(), trail_.size(), others, hash_ ^ others});
  return Step::kDescend;
}

// Only a clique whose floor is a local minimum can have its lowest item placed: in other cliques of
// that item, others may still be placed below it. The clique with the fewest branches is selected
// (fail first: Haralick and Elliott 1980), then the one with the least slack.
int32_t ExactSearch::select_clique(const Node& node) {
  int32_t best = -1;
  std::tuple<int32_t, int64_t, int64_t> best_cost;
  const int64_t highest_floor = ranges_.contiguous() ? kNever : lowest_floor(node);
  for (int32_t begin = node.begin; begin < node.end;) {
    const int64_t floor = floor_of(begin);
    int32_t end = begin + 1;
    while (end < node.end && floor_of(end) == floor) ++end;
    const bool is_minimum = floor <= highest_floor && floor != kNever &&
                            (begin == node.begin || floor_of(begin - 1) > floor) &&
                            (end == node.end || floor_of(end) > floor);
    for (int32_t index = begin; is_minimum && index < end; ++index) {
      const Clique& clique = cliques_[index];
      const int32_t branches = clique.candidates + (clique.slack > 0);
      const bool by_floor = prefers_low_cliques && branches > 1;
      const std::tuple cost(branches, by_floor ? floor : 0, clique.slack);
      if (best >= 0 && cost >= best_cost) continue;
      best = index;
      best_cost = cost;
    }
    begin = end;
  }
  work_ += node.end - node.begin;
  return best;
}

int64_t ExactSearch::floor_of(int32_t clique) const {
  return cliques_[clique].unplaced > 0 ? cliques_[clique].floor : kNever;
}

int64_t ExactSearch::lowest_floor(const Node& node) const {
  int64_t lowest = kNever;
  for (int32_t clique = node.begin; clique < node.end; ++clique)
    lowest = std::min(lowest, floor_of(clique));
  return lowest;
}

int32_t ExactSearch::select_item(int32_t clique) const {
  int32_t best = -1;
  for (const Member& member : members(clique)) {
    if (least_[member.item] != cliques_[clique].floor) continue;
    if (best < 0 || priorities[member.item] > priorities[best]) best = member.item;
  }
  return best;
}

uint64_t ExactSearch::hash_of(int32_t begin, int32_t end) {
  uint64_t hash = 0;
  for (int32_t clique = begin; clique < end; ++clique) {
    for (const Member& member : members(clique)) {
      if (ranges_.of(member.item).front().begin == clique) hash ^= key_of(member.item);
    }
    work_ += cliques_[clique].unplaced;
  }
  return hash;
}

// The unplaced items and their least offsets determine whether a state can be completed within a
// capacity. States are compared by 64-bit hashes: in a search of 10^9 nodes, a proof is wrong with
// a probability of 10^-10.
bool ExactSearch::is_failed(const Node& node) const {
  const Failure& failure = failures_[node.hash & (failures_.size() - 1)];
  return failure.hash == node.hash && search_capacity_ <= failure.capacity;
}

void ExactSearch::record_failure(const Node& node) {
  failures_[node.hash & (failures_.size() - 1)] = {node.hash, search_capacity_};
}

}  // namespace scopevm::plan
