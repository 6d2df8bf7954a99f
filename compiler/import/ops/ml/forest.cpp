// Decision trees as tables; see forest.h.
//
// The nodes of sv.tree_scores compare by <= only. Other comparisons become one or two such nodes:
// x < t is x <= t', where t' is the largest number below t, and x > t swaps the branches of x <= t.
// The branches of a node are adjacent. A node with several parents is placed once. Each further
// parent gets a node that compares with NaN and leads to the placed one.
#include "compiler/import/ops/ml/forest.h"

#include <bit>
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
        // No number is greater than NaN. With swapped branches, all would be.
        if (std::isnan(t)) return less_equal(i, t, node.takes_nan, node.yes, node.no);
        return less_equal(i, t, !node.takes_nan, node.no, node.yes);
      case TreeMode::kGreaterEqual:
        if (std::isnan(t)) return less_equal(i, t, node.takes_nan, node.yes, node.no);
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
  Tables(const Forest& forest, const std::vector<int32_t>& heights, DType dtype)
      : forest_(forest), dtype_(dtype), slot_of_(forest.nodes.size(), kUnplaced) {
    for (const size_t root : forest.roots) trees_.push_back({root, heights[root]});
    std::stable_sort(trees_.begin(), trees_.end(),
                     [](const Tree& a, const Tree& b) { return a.depth > b.depth; });
    for (const Tree& tree : trees_) {
      const size_t root = add_slot();
      roots.push_back(element_of(root));
      place(tree.root, root);
    }
    set_depths();
    for (const Slot& slot : slots_) append_record(slot);
  }

  std::vector<int32_t> nodes, roots, depths;
  std::vector<const TreeNode*> leaves;  // by number
  bool follows_nan = false;

 private:
  static constexpr size_t kUnplaced = SIZE_MAX;
  struct Tree {
    size_t root;
    int32_t depth;
  };
  struct Slot {
    double threshold = std::numeric_limits<double>::quiet_NaN();  // every comparison is false
    int64_t feature = 0, leaf = 0;
    bool takes_nan = false, has_two = false;
    // The slot for a true comparison, before that for a false one. Of a leaf, and of a reference to
    // a placed node: the slot before the next one.
    int64_t yes = 0;
  };

  int32_t element_of(int64_t slot) const {
    return static_cast<int32_t>(slot * TreeScoresOp::recordSize(dtype_));
  }

  // A new slot, which leads to itself.
  size_t add_slot() {
    slots_.push_back({.yes = static_cast<int64_t>(slots_.size()) - 1});
    return slots_.size() - 1;
  }

  // Places the nodes of a tree, level by level.
  void place(size_t root, size_t slot) {
    std::deque<std::pair<size_t, size_t>> queue = {{root, slot}};
    while (!queue.empty()) {
      const auto [i, at] = queue.front();
      queue.pop_front();
      if (slot_of_[i] != kUnplaced) {
        slots_[at].yes = static_cast<int64_t>(slot_of_[i]) - 1;
        continue;
      }
      slot_of_[i] = at;
      const TreeNode& node = forest_.nodes[i];
      if (node.mode == TreeMode::kLeaf) {
        slots_[at].leaf = static_cast<int64_t>(leaves.size());
        leaves.push_back(&node);
        continue;
      }
      const size_t yes = add_slot(), no = add_slot();
      slots_[at] = {.threshold = node.threshold,
                    .feature = node.feature,
                    .leaf = 0,
                    .takes_nan = node.takes_nan,
                    .has_two = true,
                    .yes = static_cast<int64_t>(yes)};
      follows_nan |= node.takes_nan;
      queue.emplace_back(node.yes, yes);
      queue.emplace_back(node.no, no);
    }
  }

  // The number of steps from each root to its deepest leaf, with the steps that references add.
  void set_depths() {
    constexpr int32_t kUnknown = -1;
    std::vector<int32_t> levels(slots_.size(), kUnknown);
    std::vector<size_t> stack;
    for (const int32_t root : roots) {
      const auto first = static_cast<size_t>(root / element_of(1));
      stack.push_back(first);
      while (!stack.empty()) {
        const size_t slot = stack.back();
        int32_t level = 0;
        bool is_known = true;
        for (const size_t to : targets(slot)) {
          if (levels[to] == kUnknown) stack.push_back(to);
          is_known &= levels[to] != kUnknown;
          level = std::max(level, levels[to] + 1);
        }
        if (!is_known) continue;
        levels[slot] = level;
        stack.pop_back();
      }
      depths.push_back(levels[first]);
    }
    // The first tree of a group must be its deepest one.
    for (size_t tree = depths.size(); tree-- > 1;)
      depths[tree - 1] = std::max(depths[tree - 1], depths[tree]);
  }

  llvm::SmallVector<size_t, 2> targets(size_t slot) const {
    const auto no = static_cast<size_t>(slots_[slot].yes + 1);
    if (no == slot) return {};
    if (!slots_[slot].has_two) return {no};
    return {no - 1, no};
  }

  void append_record(const Slot& slot) {
    nodes.push_back(element_of(slot.yes) + (slot.takes_nan ? 1 : 0));
    nodes.push_back(static_cast<int32_t>(slot.feature));
    if (dtype_ == DType::kF32) {
      nodes.push_back(std::bit_cast<int32_t>(static_cast<float>(slot.threshold)));
      nodes.push_back(static_cast<int32_t>(slot.leaf));
      return;
    }
    const auto bits = std::bit_cast<uint64_t>(slot.threshold);
    nodes.push_back(static_cast<int32_t>(bits & UINT32_MAX));
    nodes.push_back(static_cast<int32_t>(bits >> 32));
    nodes.push_back(static_cast<int32_t>(slot.leaf));
    nodes.push_back(0);
  }

  const Forest& forest_;
  DType dtype_;
  std::vector<Slot> slots_;
  std::vector<size_t> slot_of_;  // by node
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
  std::vector<int32_t> starts, columns;  // empty if each leaf has a weight for each column
};

// A weight for each column of each leaf, the sum of several in f64, if that is not much more than
// the weights of the leaves, else the entries of each leaf.
Weights weights_of(const Forest& forest, const Tables& tables) {
  constexpr int64_t kMostZeros = 2;  // for each weight
  Weights result;
  const auto leaves = std::ssize(tables.leaves);
  int64_t count = 0;
  for (const TreeNode* leaf : tables.leaves) count += std::ssize(leaf->weights);
  if (forest.combine == TreeScore::kSum && leaves * forest.width <= leaves + kMostZeros * count) {
    result.weights.resize(static_cast<size_t>(leaves * forest.width));
    for (int64_t i = 0; i < leaves; ++i)
      for (const auto& [column, weight] : tables.leaves[static_cast<size_t>(i)]->weights)
        result.weights[static_cast<size_t>(i * forest.width + column)] += weight;
    return result;
  }
  for (const TreeNode* leaf : tables.leaves) {
    result.starts.push_back(static_cast<int32_t>(result.weights.size()));
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
  const Tables tables(forest, heights_of(forest.nodes), dtype);
  const Weights weights = weights_of(forest, tables);
  llvm::SmallVector<Value> operands = {
      x, table(n, DType::kI32, tables.nodes), table(n, DType::kI32, tables.roots),
      table(n, DType::kI32, tables.depths), real_table(n, dtype, weights.weights)};
  if (!weights.starts.empty()) {
    operands.push_back(table(n, DType::kI32, weights.starts));
    operands.push_back(table(n, DType::kI32, weights.columns));
  }
  return n.emit<TreeScoresOp>(operands, {n.attr("width", forest.width),
                                         n.attr("combine", stringifyTreeScore(forest.combine)),
                                         n.attr("follows_nan", tables.follows_nan)});
}

}  // namespace scopevm::compiler::frontend
