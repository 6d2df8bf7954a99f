// Dinic's algorithm: blocking flows on the graph of shortest paths; see the header.
#include "compiler/placement/solve/min_cut.h"

#include <algorithm>

namespace scopevm::compiler::placement {
namespace {

constexpr Cost kNone{};
constexpr Cost kNoLimit{INT64_MAX / 2, 0};

}  // namespace

void Network::add_edge(NodeIndex from, NodeIndex to, Cost capacity) {
  edges_.push_back({from, to, capacity});
  // Added in pairs: the reverse of edge i is edge i ^ 1.
  edges_.push_back({to, from, kNone});
}

// Computes distances from the source in the residual network by breadth-first search. Returns
// whether the sink is reachable; if it is not, the flow is a maximum flow.
bool Network::find_levels() {
  level_.assign(node_count_, std::nullopt);
  level_[kSource] = 0;
  std::vector<NodeIndex> queue = {kSource};
  for (size_t i = 0; i < queue.size(); ++i)
    for (size_t edge : out_[queue[i]])
      if (edges_[edge].left > kNone && !level_[edges_[edge].to]) {
        level_[edges_[edge].to] = *level_[queue[i]] + 1;
        queue.push_back(edges_[edge].to);
      }
  return level_[kSink].has_value();
}

// Augments the flow along one path of ascending levels from the source to the sink; returns zero if
// no such path is left. Iterative, since a path may be as long as the graph.
Cost Network::push() {
  std::vector<size_t> path;
  NodeIndex at = kSource;
  while (true) {
    if (at == kSink) {
      Cost amount = kNoLimit;
      for (size_t edge : path) amount = std::min(amount, edges_[edge].left);
      for (size_t edge : path) {
        edges_[edge].left = edges_[edge].left - amount;
        edges_[edge ^ 1].left = edges_[edge ^ 1].left + amount;
      }
      return amount;
    }
    bool is_dead_end = true;
    for (; next_[at] < out_[at].size(); ++next_[at]) {
      // next_ is the current arc (Dinic): an edge that was saturated or led to a dead end is not
      // tried again before the levels change.
      const size_t edge = out_[at][next_[at]];
      if (edges_[edge].left > kNone && level_[edges_[edge].to] == *level_[at] + 1) {
        path.push_back(edge);
        at = edges_[edge].to;
        is_dead_end = false;
        break;
      }
    }
    if (!is_dead_end) continue;
    // Dead end: goes back along the last edge, and excludes this edge.
    if (path.empty()) return kNone;
    at = edges_[path.back()].from;
    path.pop_back();
    ++next_[at];
  }
}

IndexedVector<NodeIndex, bool> Network::cut() {
  out_.assign(node_count_, {});
  for (size_t edge = 0; edge < edges_.size(); ++edge) out_[edges_[edge].from].push_back(edge);
  while (find_levels()) {
    next_.assign(node_count_, 0);
    while (push() > kNone) {
    }
  }
  // Breadth-first search from the sink along reversed residual edges.
  IndexedVector<NodeIndex, bool> reaches_sink(node_count_, false);
  reaches_sink[kSink] = true;
  std::vector<NodeIndex> queue = {kSink};
  for (size_t i = 0; i < queue.size(); ++i)
    for (size_t edge : out_[queue[i]]) {
      const NodeIndex from = edges_[edge].to;  // edge ^ 1 leads from `from` to queue[i]
      if (edges_[edge ^ 1].left > kNone && !reaches_sink[from]) {
        reaches_sink[from] = true;
        queue.push_back(from);
      }
    }
  return reaches_sink;
}

}  // namespace scopevm::compiler::placement
