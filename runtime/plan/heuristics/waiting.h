// WaitingItems: one priority queue of items per step.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace scopevm::plan {

// Each queue is a leftist heap (C. A. Crane, "Linear lists and priority queues as balanced binary
// trees", 1972), because items move between queues. An item is in one queue at most. O(log n) time.
class WaitingItems {
 public:
  static constexpr int32_t kNone = -1;

  // `ranks`, by item, are distinct; the least rank is first. REQUIRES: it outlives this object.
  WaitingItems(size_t steps, const std::vector<int32_t>& ranks)
      : ranks_(ranks), nodes_(ranks.size()), first_(steps, kNone) {}

  // The first item of a queue, or kNone.
  int32_t first(int32_t step) const { return first_[step]; }
  void add(int32_t step, int32_t item) {
    nodes_[item] = {};
    first_[step] = merge(first_[step], item);
  }
  void remove_first(int32_t step) {
    const Node& node = nodes_[first_[step]];
    first_[step] = merge(node.left, node.right);
  }

 private:
  struct Node {
    int32_t left = kNone;
    int32_t right = kNone;
    int32_t distance = 1;  // the number of nodes on the path along `right`
  };

  // The depth of the recursion is O(log n): it follows `right`.
  int32_t merge(int32_t a, int32_t b) {
    if (a == kNone) return b;
    if (b == kNone) return a;
    if (ranks_[b] < ranks_[a]) std::swap(a, b);
    Node& node = nodes_[a];
    node.right = merge(node.right, b);
    if (distance(node.left) < distance(node.right)) std::swap(node.left, node.right);
    node.distance = distance(node.right) + 1;
    return a;
  }
  int32_t distance(int32_t item) const { return item == kNone ? 0 : nodes_[item].distance; }

  const std::vector<int32_t>& ranks_;
  std::vector<Node> nodes_;     // by item
  std::vector<int32_t> first_;  // by step
};

}  // namespace scopevm::plan
