// ai.onnx.ml TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble.
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/constant_array.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/ops/ml/forest.h"
#include "compiler/import/ops/ml/scores.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// The elements of a tensor attribute of numbers. Empty if it is absent.
std::vector<double> tensor_numbers(Node& n, const std::string& name) {
  const onnx::AttributeProto* found = n.attribute(name, onnx::AttributeProto::TENSOR);
  std::vector<double> numbers;
  if (!found) return numbers;
  Value value = n.constant(found->t());
  auto constant = value ? value.getDefiningOp<ConstantOp>() : ConstantOp();
  if (!constant || !check_dtype(n, value, "attribute \"" + name + "\"",
                                {DType::kF16, DType::kF32, DType::kF64, DType::kU8}))
    return numbers;
  const ConstantArray array(constant);
  for (int64_t i = 0; i < array.count(); ++i)
    numbers.push_back(array.is_float() ? array.real(i) : static_cast<double>(array.integer(i)));
  return numbers;
}

// The numbers of the attribute `name`, or of the tensor `name`_as_tensor.
std::vector<double> numbers_or_tensor(Node& n, const std::string& name) {
  std::vector<double> numbers = tensor_numbers(n, name + "_as_tensor");
  if (!numbers.empty()) return numbers;
  const llvm::SmallVector<float> given = n.numbers(name);
  return {given.begin(), given.end()};
}

bool check_length(Node& n, llvm::StringRef name, size_t length, size_t expected) {
  if (length == expected || n.has_failed()) return !n.has_failed();
  n.fail("attribute \"" + name + "\" has " + llvm::Twine(length) + " entries, expected " +
         llvm::Twine(expected));
  return false;
}

Ints list_of(Node& n, llvm::StringRef name, size_t length) {
  Ints numbers = n.integers(name);
  check_length(n, name, numbers.size(), length);
  return numbers;
}

// --- Versions 1 and 3: nodes are identified by tree and node. -----------------------------------

using NodeIds = std::map<std::pair<int64_t, int64_t>, size_t>;

std::optional<TreeMode> mode_named(llvm::StringRef name) {
  if (name == "LEAF") return TreeMode::kLeaf;
  if (name == "BRANCH_LEQ") return TreeMode::kLessEqual;
  if (name == "BRANCH_LT") return TreeMode::kLess;
  if (name == "BRANCH_GTE") return TreeMode::kGreaterEqual;
  if (name == "BRANCH_GT") return TreeMode::kGreater;
  if (name == "BRANCH_EQ") return TreeMode::kEqual;
  if (name == "BRANCH_NEQ") return TreeMode::kNotEqual;
  return std::nullopt;
}

// Reads the nodes. Returns their indices by tree and node.
NodeIds read_nodes(Node& n, Forest& forest) {
  NodeIds ids;
  const Ints trees = n.integers("nodes_treeids");
  const size_t count = trees.size();
  const Ints nodes = list_of(n, "nodes_nodeids", count),
             yes = list_of(n, "nodes_truenodeids", count);
  const Ints no = list_of(n, "nodes_falsenodeids", count);
  const Ints features = list_of(n, "nodes_featureids", count);
  const std::vector<std::string> modes = n.strings("nodes_modes");
  const std::vector<double> values = numbers_or_tensor(n, "nodes_values");
  const Ints nan = n.integers("nodes_missing_value_tracks_true");
  if (!check_length(n, "nodes_modes", modes.size(), count) ||
      !check_length(n, "nodes_values", values.size(), count) ||
      (!nan.empty() && !check_length(n, "nodes_missing_value_tracks_true", nan.size(), count)))
    return ids;
  forest.nodes.resize(count);
  for (size_t i = 0; i < count; ++i) {
    if (!ids.try_emplace({trees[i], nodes[i]}, i).second)
      return n.fail("node " + llvm::Twine(nodes[i]) + " of tree " + llvm::Twine(trees[i]) +
                    " is given twice"),
             ids;
    const std::optional<TreeMode> mode = mode_named(modes[i]);
    if (!mode) return n.fail("unknown mode " + runtime::quoted(modes[i]) + " of a node"), ids;
    forest.nodes[i] = {.mode = *mode,
                       .takes_nan = !nan.empty() && nan[i] != 0,
                       .feature = features[i],
                       .threshold = values[i]};
  }
  std::vector<bool> has_parent(count, false);
  for (size_t i = 0; i < count; ++i) {
    if (forest.nodes[i].mode == TreeMode::kLeaf) continue;
    for (const bool is_yes : {true, false}) {
      const auto found = ids.find({trees[i], is_yes ? yes[i] : no[i]});
      if (found == ids.end())
        return n.fail("node " + llvm::Twine(is_yes ? yes[i] : no[i]) + " of tree " +
                      llvm::Twine(trees[i]) + " does not exist"),
               ids;
      (is_yes ? forest.nodes[i].yes : forest.nodes[i].no) = found->second;
      has_parent[found->second] = true;
    }
  }
  for (size_t i = 0; i < count; ++i)
    if (!has_parent[i]) forest.roots.push_back(i);
  return ids;
}

struct LeafWeights {
  std::set<int64_t> columns;
  bool are_positive = true;  // none is negative
};

// Adds the weights of the attributes that start with `prefix`.
LeafWeights read_weights(Node& n, Forest& forest, const NodeIds& ids, const std::string& prefix) {
  LeafWeights result;
  const Ints trees = n.integers(prefix + "_treeids");
  const Ints nodes = list_of(n, prefix + "_nodeids", trees.size());
  const Ints columns = list_of(n, prefix + "_ids", trees.size());
  const std::vector<double> weights = numbers_or_tensor(n, prefix + "_weights");
  if (!check_length(n, prefix + "_weights", weights.size(), trees.size())) return result;
  for (size_t i = 0; i < trees.size(); ++i) {
    const auto found = ids.find({trees[i], nodes[i]});
    if (found == ids.end())
      return n.fail("a weight belongs to node " + llvm::Twine(nodes[i]) + " of tree " +
                    llvm::Twine(trees[i]) + ", which does not exist"),
             result;
    result.columns.insert(columns[i]);
    result.are_positive &= weights[i] >= 0;
    if (forest.nodes[found->second].mode == TreeMode::kLeaf)
      forest.nodes[found->second].weights.emplace_back(columns[i], weights[i]);
  }
  return result;
}

Value real_row(Node& n, const std::vector<double>& numbers, DType dtype) {
  std::vector<char> bytes(numbers.size() * sizeof(double));
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return n.cast(n.constant({static_cast<int64_t>(numbers.size())}, DType::kF64, bytes), dtype);
}

// --- TreeEnsembleRegressor. ---------------------------------------------------------------------

enum class Aggregate : uint8_t { kAverage, kSum, kMin, kMax };

// Where a score has no weights: bool, with the shape of `scores`. Such a score is `neutral`, an
// infinity, which can also be the weight of a leaf. In that case, the weights are counted.
Formula has_no_weights(const Formula& scores, Value x, Forest forest, double neutral) {
  Node& n = scores.node();
  bool is_weight = false;
  for (TreeNode& node : forest.nodes)
    for (auto& [column, weight] : node.weights) {
      is_weight |= static_cast<float>(weight) == neutral;
      weight = 1;
    }
  if (!is_weight) return scores == scores.scalar(neutral);
  forest.combine = TreeScore::kSum;
  const Formula counts(n, forest_scores(n, x, std::move(forest)));
  return counts == counts.scalar(0);
}

// The scores of the rows, aggregated, with base values. A score without weights is 0. As in ONNX
// Runtime, so is the weight of a leaf without weights in a minimum or maximum of a single target.
Formula aggregated(Node& n, Value x, Forest forest, Aggregate aggregate,
                   const std::vector<double>& base) {
  const auto trees = static_cast<double>(forest.roots.size());
  const int64_t width = forest.width;
  if (aggregate == Aggregate::kMin) forest.combine = TreeScore::kMin;
  if (aggregate == Aggregate::kMax) forest.combine = TreeScore::kMax;
  if (forest.combine != TreeScore::kSum && width == 1)
    for (TreeNode& node : forest.nodes)
      if (node.mode == TreeMode::kLeaf && node.weights.empty()) node.weights.emplace_back(0, 0);
  Formula scores(n, forest_scores(n, x, forest));
  if (n.has_failed()) return scores;
  if (aggregate == Aggregate::kAverage) scores = scores / scores.scalar(trees);
  if (forest.combine != TreeScore::kSum) {
    const double infinity = std::numeric_limits<double>::infinity();
    const double neutral = aggregate == Aggregate::kMin ? infinity : -infinity;
    scores =
        select(has_no_weights(scores, x, std::move(forest), neutral), scores.scalar(0), scores);
  }
  if (static_cast<int64_t>(base.size()) == width)
    scores = scores + Formula(n, real_row(n, base, scores.dtype()));
  return scores;
}

Aggregate aggregate_of(Node& n) {
  const std::string name = n.text("aggregate_function", "SUM");
  if (name == "SUM") return Aggregate::kSum;
  if (name == "AVERAGE") return Aggregate::kAverage;
  if (name == "MIN") return Aggregate::kMin;
  if (name == "MAX") return Aggregate::kMax;
  return n.fail("aggregate_function is " + runtime::quoted(name) +
                ", expected SUM, AVERAGE, MIN or MAX"),
         Aggregate::kSum;
}

Values tree_ensemble_regressor(Node& n) {
  Value x = rows_of_input(n, n.input(0));
  Forest forest;
  const NodeIds ids = read_nodes(n, forest);
  forest.width = integer_within(n, "n_targets", 1, 1, int64_t{1} << 20);
  if (!n.has_failed()) read_weights(n, forest, ids, "target");
  const std::vector<double> base = numbers_or_tensor(n, "base_values");
  const PostTransform transform = post_transform_of(n);
  if (n.has_failed()) return Value();
  const int64_t width = forest.width;
  Formula scores = aggregated(n, x, std::move(forest), aggregate_of(n), base);
  // With one target, only PROBIT applies.
  if (width > 1 || transform == PostTransform::kProbit) scores = transformed(scores, transform);
  return scores.as(DType::kF32);
}

// --- TreeEnsembleClassifier. --------------------------------------------------------------------

struct Classified {
  Formula scores;  // [n, classes]
  Formula index;   // i64 [n]: the index of the label
};

// 1 where `score`: [n, 1] is above the limit, else 0, as i64 [n].
Formula is_above(const Formula& score, double limit) {
  Node& n = score.node();
  return (score > limit).as(DType::kI64).reshape({n.dim(score, 0)});
}

// Two classes. Models can have weights for both, or for one of them. ONNX does not define these
// cases: the results are those of ONNX Runtime.
Classified classify_two(Node& n, const Formula& given, const LeafWeights& weights,
                        const std::vector<double>& base, PostTransform transform) {
  const bool has_second = weights.columns.contains(1), is_binary = weights.columns.size() == 1;
  const double limit = is_binary && weights.are_positive ? 0.5 : 0;
  Formula first = given.element_at(1, 0, true), second = given.element_at(1, 1, true);
  if (base.size() == 2) {
    if (has_second) {
      second = first + base[1];
      first = second * -1.0;
    } else {
      second = second + base[1];
      first = first + base[0];
    }
  } else {
    if (base.size() == 1) first = first + base[0];
    if (!has_second) {
      const SecondScore kind =
          !is_binary || weights.are_positive ? SecondScore::kComplement : SecondScore::kOpposite;
      if (transform == PostTransform::kProbit)
        n.unsupported("post_transform PROBIT is not supported for weights of one of two classes");
      return {with_second_score(first, kind, transform), is_above(first, limit)};
    }
  }
  return {transformed({n, n.concat({first, second}, 1)}, transform),
          is_above(has_second ? second : first, limit)};
}

Values tree_ensemble_classifier(Node& n) {
  Value x = rows_of_input(n, n.input(0));
  Forest forest;
  const NodeIds ids = read_nodes(n, forest);
  const Labels labels = labels_of(n, "classlabels_int64s", "classlabels_strings");
  if (n.has_failed()) return Value();
  forest.width = labels.count();
  const LeafWeights weights = read_weights(n, forest, ids, "class");
  const std::vector<double> base = numbers_or_tensor(n, "base_values");
  const PostTransform transform = post_transform_of(n);
  if (forest.width != 2 && !base.empty())
    check_length(n, "base_values", base.size(), static_cast<size_t>(forest.width));
  Formula scores(n, forest_scores(n, x, std::move(forest)));
  if (n.has_failed()) return Value();
  if (labels.count() == 2) {
    Classified c = classify_two(n, scores, weights, base, transform);
    return {label_at(n, labels, c.index), c.scores.as(DType::kF32)};
  }
  if (!base.empty()) scores = scores + Formula(n, real_row(n, base, scores.dtype()));
  return {label_at(n, labels, greatest(n, scores)), transformed(scores, transform).as(DType::kF32)};
}

// --- TreeEnsemble of version 5: nodes and leaves are identified by their positions. --------------

std::vector<TreeMode> modes_of_5(Node& n) {
  constexpr TreeMode kModes[] = {TreeMode::kLessEqual, TreeMode::kLess,  TreeMode::kGreaterEqual,
                                 TreeMode::kGreater,   TreeMode::kEqual, TreeMode::kNotEqual,
                                 TreeMode::kMember};
  std::vector<TreeMode> modes;
  for (const double number : tensor_numbers(n, "nodes_modes")) {
    if (!(number >= 0 && number <= 6))
      return n.fail("a mode of a node is " + llvm::Twine(static_cast<int64_t>(number)) +
                    ", expected 0 to 6"),
             modes;
    modes.push_back(kModes[static_cast<size_t>(number)]);
  }
  return modes;
}

// The leaves, which follow the `inner` nodes.
void add_leaves(Node& n, Forest& forest) {
  const std::vector<double> weights = tensor_numbers(n, "leaf_weights");
  const Ints targets = list_of(n, "leaf_targetids", weights.size());
  if (n.has_failed()) return;
  for (size_t i = 0; i < weights.size(); ++i)
    forest.nodes.push_back({.weights = {{targets[i], weights[i]}}});
}

// Divides membership_values at NaN into one set for each node of mode kMember, in order.
void set_members(Node& n, Forest& forest) {
  const std::vector<double> values = tensor_numbers(n, "membership_values");
  size_t at = 0;
  for (TreeNode& node : forest.nodes) {
    if (node.mode != TreeMode::kMember) continue;
    while (at < values.size() && values[at] == values[at]) node.members.push_back(values[at++]);
    ++at;
    if (node.members.empty())
      n.fail("membership_values have no numbers for a node of mode 6, expected at least one");
  }
}

Forest read_forest_5(Node& n) {
  Forest forest;
  const std::vector<TreeMode> modes = modes_of_5(n);
  const size_t count = modes.size();
  const std::vector<double> splits = tensor_numbers(n, "nodes_splits");
  const Ints features = list_of(n, "nodes_featureids", count);
  const Ints yes = list_of(n, "nodes_truenodeids", count),
             no = list_of(n, "nodes_falsenodeids", count);
  const Ints yes_leaf = list_of(n, "nodes_trueleafs", count);
  const Ints no_leaf = list_of(n, "nodes_falseleafs", count),
             nan = n.integers("nodes_missing_value_tracks_true");
  if (!check_length(n, "nodes_splits", splits.size(), count) ||
      (!nan.empty() && !check_length(n, "nodes_missing_value_tracks_true", nan.size(), count)))
    return forest;
  for (size_t i = 0; i < count; ++i)
    forest.nodes.push_back({.mode = modes[i],
                            .takes_nan = !nan.empty() && nan[i] != 0,
                            .feature = features[i],
                            .threshold = splits[i]});
  set_members(n, forest);
  add_leaves(n, forest);
  auto target = [&](int64_t id, bool is_leaf) -> size_t {
    const size_t first = is_leaf ? count : 0, end = is_leaf ? forest.nodes.size() : count;
    if (id >= 0 && static_cast<size_t>(id) < end - first) return first + static_cast<size_t>(id);
    n.fail("a node leads to " + std::string(is_leaf ? "leaf " : "node ") + std::to_string(id) +
           ", which does not exist");
    return 0;
  };
  for (size_t i = 0; i < count; ++i) {
    forest.nodes[i].yes = target(yes[i], yes_leaf[i] != 0);
    forest.nodes[i].no = target(no[i], no_leaf[i] != 0);
  }
  for (const int64_t root : n.integers("tree_roots")) forest.roots.push_back(target(root, false));
  return forest;
}

Values tree_ensemble(Node& n) {
  Value x = n.input(0);
  if (!check_rank(n, x, "X", 2, 2) ||
      !check_dtype(n, x, "X", {DType::kF32, DType::kF64, DType::kF16}))
    return Value();
  const DType dtype = n.dtype(x);
  Forest forest = read_forest_5(n);
  forest.width = integer_within(n, "n_targets", 1, 1, int64_t{1} << 20);
  constexpr Aggregate kAggregates[] = {Aggregate::kAverage, Aggregate::kSum, Aggregate::kMin,
                                       Aggregate::kMax};
  constexpr PostTransform kTransforms[] = {PostTransform::kNone, PostTransform::kSoftmax,
                                           PostTransform::kLogistic, PostTransform::kSoftmaxZero,
                                           PostTransform::kProbit};
  const Aggregate aggregate = kAggregates[integer_within(n, "aggregate_function", 1, 0, 3)];
  const PostTransform transform = kTransforms[integer_within(n, "post_transform", 0, 0, 4)];
  if (n.has_failed()) return Value();
  const int64_t width = forest.width;
  if (dtype == DType::kF16) x = n.cast(x, DType::kF32);
  Formula scores = aggregated(n, x, std::move(forest), aggregate, {});
  if (width > 1 || transform == PostTransform::kProbit) scores = transformed(scores, transform);
  return scores.as(dtype);
}

}  // namespace

const OpRows kTreeOps = {
    {"TreeEnsemble", 5, tree_ensemble,
     OpSignature{"X",
                 "aggregate_function leaf_targetids leaf_weights membership_values n_targets "
                 "nodes_falseleafs nodes_falsenodeids nodes_featureids nodes_hitrates "
                 "nodes_missing_value_tracks_true nodes_modes nodes_splits nodes_trueleafs "
                 "nodes_truenodeids post_transform tree_roots"}},
    {"TreeEnsembleClassifier", 1, tree_ensemble_classifier},
    {"TreeEnsembleRegressor", 1, tree_ensemble_regressor},
};

}  // namespace scopevm::compiler::frontend
