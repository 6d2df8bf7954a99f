// A minimum cut between two nodes of a network with lexicographic capacities (Dinic, 1970).
#pragma once

#include <vector>

#include "compiler/placement/assignment.h"

namespace scopevm::compiler::placement {

class Network {
 public:
  static constexpr int kSource = 0;
  static constexpr int kSink = 1;

  int add_node() { return node_count_++; }
  void add_edge(int from, int to, Cost capacity);
  // After cut(): true for nodes from which the sink can still be reached. The set of the other
  // nodes is the largest source side of any minimum cut.
  std::vector<bool> cut();

 private:
  struct Edge {
    int from, to;
    Cost left;  // capacity that is not used
  };
  bool find_levels();
  Cost push();

  int node_count_ = 2;
  std::vector<Edge> edges_;  // edge i ^ 1 is the way back
  std::vector<std::vector<int>> out_;
  std::vector<int> level_;
  std::vector<size_t> next_;
};

}  // namespace scopevm::compiler::placement
