#include "runtime/plan/heuristics/skyline_tree.h"

namespace scopevm::plan {
namespace {

int32_t middle(StepRange range) { return range.lower + (range.upper - range.lower) / 2; }
bool contains(StepRange outer, StepRange inner) {
  return outer.lower <= inner.lower && inner.upper <= outer.upper;
}

}  // namespace

SkylineTree::SkylineTree(std::vector<int64_t> live) : live_(std::move(live)) {
  while (size_ < live_.size()) size_ *= 2;
  live_.resize(size_, -1);
  nodes_.resize(2 * size_);
  for (size_t step = 0; step < size_; ++step)
    nodes_[size_ + step].busiest = static_cast<int32_t>(step);
  for (size_t i = size_ - 1; i > 0; --i)
    nodes_[i].busiest = busier(nodes_[2 * i].busiest, nodes_[2 * i + 1].busiest);
  set_height(1, 0);
}

void SkylineTree::set_height(size_t index, int64_t height) {
  Node& node = nodes_[index];
  node.top = {height, node.busiest};
  node.low = node.rank == kNoRank ? kNoHeight : height;
  node.lowest_rank = node.rank;
  node.is_level = true;
}

void SkylineTree::push_down(size_t index) {
  if (!nodes_[index].is_level) return;
  set_height(2 * index, nodes_[index].top.height);
  set_height(2 * index + 1, nodes_[index].top.height);
}

void SkylineTree::pull_up(size_t index) {
  Node& node = nodes_[index];
  const Node& a = nodes_[2 * index];
  const Node& b = nodes_[2 * index + 1];
  node.top = a.top;
  raise(node.top, b.top);
  node.rank = std::min(a.rank, b.rank);
  const bool is_first = a.low != b.low ? a.low < b.low : a.lowest_rank < b.lowest_rank;
  node.low = is_first ? a.low : b.low;
  node.lowest_rank = is_first ? a.lowest_rank : b.lowest_rank;
  node.is_level = a.is_level && b.is_level && a.top.height == b.top.height;
}

void SkylineTree::set_rank(size_t index, StepRange covered, int32_t step, int32_t rank) {
  if (index >= size_) {
    nodes_[index].rank = rank;
    return set_height(index, nodes_[index].top.height);
  }
  push_down(index);
  const int32_t mid = middle(covered);
  if (step < mid)
    set_rank(2 * index, {covered.lower, mid}, step, rank);
  else
    set_rank(2 * index + 1, {mid, covered.upper}, step, rank);
  pull_up(index);
}

void SkylineTree::assign(size_t index, StepRange covered, StepRange range, int64_t height) {
  if (contains(range, covered)) return set_height(index, height);
  push_down(index);
  const int32_t mid = middle(covered);
  if (range.lower < mid) assign(2 * index, {covered.lower, mid}, range, height);
  if (range.upper > mid) assign(2 * index + 1, {mid, covered.upper}, range, height);
  pull_up(index);
}

void SkylineTree::find_peak(size_t index, StepRange covered, StepRange range, Peak& peak) const {
  const Node& node = nodes_[index];
  if (node.top.height < peak.height) return;
  if (contains(range, covered)) return raise(peak, node.top);
  if (node.is_level) {
    Peak level{node.top.height, std::max(covered.lower, range.lower)};
    find_busiest(index, covered, range, level);
    return raise(peak, level);
  }
  const int32_t mid = middle(covered);
  if (range.lower < mid) find_peak(2 * index, {covered.lower, mid}, range, peak);
  if (range.upper > mid) find_peak(2 * index + 1, {mid, covered.upper}, range, peak);
}

void SkylineTree::find_busiest(size_t index, StepRange covered, StepRange range, Peak& peak) const {
  if (contains(range, covered)) return raise(peak, {peak.height, nodes_[index].busiest});
  const int32_t mid = middle(covered);
  if (range.lower < mid) find_busiest(2 * index, {covered.lower, mid}, range, peak);
  if (range.upper > mid) find_busiest(2 * index + 1, {mid, covered.upper}, range, peak);
}

}  // namespace scopevm::plan
