// Decision trees as tables; see forest.h.
//
// The nodes of sv.tree_scores compare by <= only. Other comparisons become one or two such nodes:
// x < t is x <= t', where t' is the largest number below t, and x > t swaps the branches of x <= t.
// The branches of a node are adjacent. A node with several parents is placed once. Each further
// parent gets a node that compares with infinity and leads to the placed one.
#include "compiler/import/ops/ml/forest.h"

#include <cmath>
#include <cstring>
#include <deque>
#include <limits>

#include "compiler/graph/type_rule.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// --- Nodes that compare by <= only. -------------------------------------------------------------

// The largest number of the element type below t. Nothing is below -infinity: NaN.
double below(double t, DType dtype) {
  if (t == -kInfinity) return std::numeric_limits<double>::quiet_NaN();
  if (dtype == DType::kF64) return std::nextafter(t, -kInfinity);
  return std::nextafter(static_cast<float>(t), -std::numeric_limits<float>::infinity());
}

class Canonical {
 public:
  Canonical(Forest& forest, DType dtype) : nodes_(forest.nodes), dtype_(dtype) {
    const size_t count = nodes_.size();
    for (size_t i = 0; i < count; ++i) rewrite(i);
  }

 private:
  void less_equal(size_t at, double threshold, bool takes_nan, size_t yes, size_t no) {
    TreeNode& node = nodes_[at];
    node.mode = TreeMode::kLessEqual;
    node.threshold = threshold;
    node.takes_nan = takes_nan;
    node.yes = yes;
    node.no = no;
  }

  // x <= t leads to a second node, which sends x <= t' to `no`.
  void equal(size_t at, double threshold, bool takes_nan, size_t yes, size_t no) {
    const size_t second = nodes_.size();
    nodes_.push_back({.feature = nodes_[at].feature});
    less_equal(second, below(threshold, dtype_), false, no, yes);
    less_equal(at, threshold, takes_nan, second, no);
  }

  void rewrite(size_t i) {
    const TreeNode node = nodes_[i];
    const double t = node.threshold;
    switch (node.mode) {
      case TreeMode::kLeaf:
      case TreeMode::kLessEqual:
        return;
      case TreeMode::kLess:
        return less_equal(i, below(t, dtype_), node.takes_nan, node.yes, node.no);
      case TreeMode::kGreater:
        return less_equal(i, t, !node.takes_nan, node.no, node.yes);
      case TreeMode::kGreaterEqual:
        return less_equal(i, below(t, dtype_), !node.takes_nan, node.no, node.yes);
      case TreeMode::kEqual:
        return equal(i, t, node.takes_nan, node.yes, node.no);
      case TreeMode::kNotEqual:
        return equal(i, t, false, node.no, node.yes);  // NaN differs from every number
      case TreeMode::kMember:
        return rewrite_member(i, node);
    }
  }

  void rewrite_member(size_t at, const TreeNode& node) {
    for (size_t i = 0; i < node.members.size(); ++i) {
      size_t otherwise = node.no;
      if (i + 1 < node.members.size()) {
        otherwise = nodes_.size();
        nodes_.push_back({.feature = node.feature});
      }
      equal(at, node.members[i], i == 0 && node.takes_nan, node.yes, otherwise);
      at = otherwise;
    }
  }

  std::vector<TreeNode>& nodes_;
  DType dtype_;
};

// --- Checks. ------------------------------------------------------------------------------------

// The greatest number of steps from each node to a leaf. Empty if there is a cycle.
std::vector<int32_t> heights_of(const std::vector<TreeNode>& nodes) {
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(nodes.size(), kNew);
  std::vector<int32_t> heights(nodes.size(), 0);
  std::vector<size_t> stack;
  for (size_t first = 0; first < nodes.size(); ++first) {
    if (state[first] == kNew) stack.push_back(first);
    while (!stack.empty()) {
      const size_t i = stack.back();
      const TreeNode& node = nodes[i];
      if (state[i] != kNew) {
        stack.pop_back();
        if (state[i] == kDone) continue;
        state[i] = kDone;
        if (node.mode != TreeMode::kLeaf)
          heights[i] = 1 + std::max(heights[node.yes], heights[node.no]);
        continue;
      }
      state[i] = kOpen;
      if (node.mode == TreeMode::kLeaf) continue;
      for (const size_t next : {node.yes, node.no}) {
        if (state[next] == kOpen) return {};
        if (state[next] == kNew) stack.push_back(next);
      }
    }
  }
  return heights;
}

bool check_forest(Node& n, Value x, const Forest& forest) {
  const std::optional<int64_t> features = n.dim(x, 1).as_constant();
  int64_t most = -1;
  for (const TreeNode& node : forest.nodes) {
    if (node.mode != TreeMode::kLeaf) {
      if (node.feature < 0 || node.feature >= (features ? *features : int64_t{1} << 29))
        return n.fail("feature " + llvm::Twine(node.feature) + " of a node is out of range: x is " +
                      text_of(n.type(x))),
               false;
      most = std::max(most, node.feature);
    }
    for (const auto& [column, weight] : node.weights)
      if (column < 0 || column >= forest.width)
        return n.fail("column " + llvm::Twine(column) + " of a weight is out of range [0, " +
                      llvm::Twine(forest.width) + ")"),
               false;
  }
  // A model of 2 GB, the limit of protobuf, has less than 2^29 nodes.
  if (forest.roots.empty()) return n.fail("the trees have no nodes"), false;
  n.require_at_least(n.dim(x, 1), most + 1, "x has {0} columns, but the trees read {1}");
  return !n.has_failed();
}

// --- Tables. ------------------------------------------------------------------------------------

class Tables {
 public:
  Tables(const Forest& forest, const std::vector<int32_t>& heights)
      : forest_(forest), slots_(forest.nodes.size(), kUnplaced) {
    for (const size_t root : forest.roots) trees_.push_back({root, heights[root]});
    std::stable_sort(trees_.begin(), trees_.end(),
                     [](const Tree& a, const Tree& b) { return a.depth > b.depth; });
    for (const Tree& tree : trees_) {
      roots.push_back(add_slot());
      depths.push_back(tree.depth + 2);  // references to placed nodes add levels
      place(tree.root, roots.back());
    }
    set_depths();
  }

  std::vector<double> thresholds;
  std::vector<int32_t> features, next, roots, depths;
  std::vector<const TreeNode*> leaves;  // by slot; null for a node that is no leaf

 private:
  static constexpr int32_t kUnplaced = -1;
  struct Tree {
    size_t root;
    int32_t depth;
  };

  // A new slot, with a leaf.
  int32_t add_slot() {
    const auto slot = static_cast<int32_t>(next.size());
    thresholds.push_back(kInfinity);
    features.push_back(1);  // with this threshold, every number and NaN lead to `next`
    next.push_back(slot);
    leaves.push_back(nullptr);
    return slot;
  }

  // Places the nodes of a tree, level by level.
  void place(size_t root, int32_t slot) {
    std::deque<std::pair<size_t, int32_t>> queue = {{root, slot}};
    while (!queue.empty()) {
      const auto [i, at] = queue.front();
      queue.pop_front();
      const auto index = static_cast<size_t>(at);
      if (slots_[i] != kUnplaced) {
        next[index] = slots_[i];
        continue;
      }
      slots_[i] = at;
      const TreeNode& node = forest_.nodes[i];
      if (node.mode == TreeMode::kLeaf) {
        leaves[index] = &node;
        continue;
      }
      const int32_t yes = add_slot(), no = add_slot();
      thresholds[index] = node.threshold;
      features[index] = static_cast<int32_t>(node.feature) * 2 + (node.takes_nan ? 1 : 0);
      next[index] = yes;
      queue.emplace_back(node.yes, yes);
      queue.emplace_back(node.no, no);
    }
  }

  // The number of steps from each root to its deepest leaf, with the steps that references add.
  void set_depths() {
    std::vector<int32_t> levels(next.size(), kUnplaced);
    std::vector<int32_t> stack;
    for (size_t tree = 0; tree < roots.size(); ++tree) {
      stack.push_back(roots[tree]);
      while (!stack.empty()) {
        const auto slot = static_cast<size_t>(stack.back());
        int32_t level = 0;
        bool is_known = true;
        for (const int32_t to : targets(slot)) {
          const int32_t other = levels[static_cast<size_t>(to)];
          if (other == kUnplaced) stack.push_back(to);
          is_known &= other != kUnplaced;
          level = std::max(level, other + 1);
        }
        if (!is_known) continue;
        levels[slot] = level;
        stack.pop_back();
      }
      depths[tree] = levels[static_cast<size_t>(roots[tree])];
    }
    // The first tree of a group must be its deepest one.
    for (size_t tree = depths.size(); tree-- > 1;)
      depths[tree - 1] = std::max(depths[tree - 1], depths[tree]);
  }

  llvm::SmallVector<int32_t, 2> targets(size_t slot) const {
    const int32_t to = next[slot];
    if (to == static_cast<int32_t>(slot)) return {};
    if (features[slot] == 1 && thresholds[slot] == kInfinity) return {to};
    return {to, to + 1};
  }

  const Forest& forest_;
  std::vector<int32_t> slots_;  // by node
  std::vector<Tree> trees_;
};

template <typename T>
Value table(Node& n, DType dtype, const std::vector<T>& elements) {
  std::vector<char> bytes(elements.size() * sizeof(T));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return n.constant({static_cast<int64_t>(elements.size())}, dtype, bytes);
}

Value real_table(Node& n, DType dtype, const std::vector<double>& elements) {
  if (dtype == DType::kF64) return table(n, dtype, elements);
  return table(n, dtype, std::vector<float>(elements.begin(), elements.end()));
}

struct Weights {
  std::vector<double> weights;
  std::vector<int32_t> starts, columns;  // empty if there is one weight for each slot
};

// One weight per slot if that is enough, else the entries of each slot.
Weights weights_of(const Forest& forest, const Tables& tables) {
  Weights result;
  if (forest.width == 1 && forest.combine == TreeScore::kSum) {
    for (const TreeNode* leaf : tables.leaves) {
      double sum = 0;
      if (leaf)
        for (const auto& [column, weight] : leaf->weights) sum += weight;
      result.weights.push_back(sum);
    }
    return result;
  }
  for (const TreeNode* leaf : tables.leaves) {
    result.starts.push_back(static_cast<int32_t>(result.weights.size()));
    if (!leaf) continue;
    for (const auto& [column, weight] : leaf->weights) {
      result.weights.push_back(weight);
      result.columns.push_back(static_cast<int32_t>(column));
    }
  }
  result.starts.push_back(static_cast<int32_t>(result.weights.size()));
  if (result.weights.empty()) {  // the tables have at least one element
    result.weights.push_back(0);
    result.columns.push_back(0);
  }
  return result;
}

}  // namespace

Value forest_scores(Node& n, Value x, Forest forest) {
  if (n.has_failed() || !check_forest(n, x, forest)) return {};
  const DType dtype = n.dtype(x);
  if (heights_of(forest.nodes).empty()) return n.fail("the nodes of a tree form a cycle"), Value();
  Canonical(forest, dtype);
  const Tables tables(forest, heights_of(forest.nodes));
  const Weights weights = weights_of(forest, tables);
  llvm::SmallVector<Value> operands = {x,
                                       real_table(n, dtype, tables.thresholds),
                                       table(n, DType::kI32, tables.features),
                                       table(n, DType::kI32, tables.next),
                                       table(n, DType::kI32, tables.roots),
                                       table(n, DType::kI32, tables.depths),
                                       real_table(n, dtype, weights.weights)};
  if (!weights.starts.empty()) {
    operands.push_back(table(n, DType::kI32, weights.starts));
    operands.push_back(table(n, DType::kI32, weights.columns));
  }
  return n.emit<TreeScoresOp>(operands, {n.attr("width", forest.width),
                                         n.attr("combine", stringifyTreeScore(forest.combine))});
}

}  // namespace scopevm::compiler::frontend
