// Decision trees of ai.onnx.ml -> tables of sv.tree_scores.
#pragma once

#include <string>
#include <vector>

#include "compiler/import/node/formula.h"

namespace scopevm::compiler::frontend {

// The comparison of a node: x MODE threshold. kMember: x is equal to one of several numbers.
enum class TreeMode : uint8_t {
  kLeaf,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kMember
};

struct TreeNode {
  TreeMode mode = TreeMode::kLeaf;
  bool takes_nan = false;  // NaN follows `yes`
  int64_t feature = 0;
  double threshold = 0;
  std::vector<double> members;                      // of kMember
  size_t yes = 0, no = 0;                           // indices of nodes
  std::vector<std::pair<int64_t, double>> weights;  // of a leaf: columns and weights
};

struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<size_t> roots;
  int64_t width = 1;  // number of columns
  graph::TreeScore combine = graph::TreeScore::kSum;
};

// The scores of the rows of x: [n, c], as f32 or f64 [n, width]. Thresholds are compared in the
// element type of x. Fails the node if the graph of the nodes has a cycle, or if a feature or a
// column is out of range.
Value forest_scores(Node& n, Value x, Forest forest);

}  // namespace scopevm::compiler::frontend
