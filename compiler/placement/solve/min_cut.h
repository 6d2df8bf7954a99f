// A minimum cut between two nodes of a network with lexicographic capacities (Dinic, 1970).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/placement/solve/cost.h"
#include "compiler/support/index.h"

namespace scopevm::compiler::placement {

using NodeIndex = isa::Index<struct NodeTag>;

class Network {
 public:
  static constexpr NodeIndex kSource{0};
  static constexpr NodeIndex kSink{1};
  // The capacity of an edge that no minimum cut contains.
  static constexpr Cost kNever{INT64_MAX / 8, 0};

  NodeIndex add_node() { return {node_count_++}; }
  void add_edge(NodeIndex from, NodeIndex to, Cost capacity);
  // Computes a maximum flow. Returns true for each node that reaches the sink in the residual
  // network; the other nodes are the largest source side of any minimum cut.
  IndexedVector<NodeIndex, bool> cut();

 private:
  struct Edge {
    NodeIndex from, to;
    Cost left;  // residual capacity
  };
  bool find_levels();
  Cost push();

  uint32_t node_count_ = 2;
  std::vector<Edge> edges_;                             // edge i ^ 1 is the reverse of edge i
  IndexedVector<NodeIndex, std::vector<size_t>> out_;   // edges from the node, with reverse edges
  IndexedVector<NodeIndex, std::optional<int>> level_;  // distance from the source, if reached
  IndexedVector<NodeIndex, size_t> next_;               // position in out_ of the next edge to try
};

}  // namespace scopevm::compiler::placement
