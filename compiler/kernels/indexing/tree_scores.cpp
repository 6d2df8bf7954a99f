// tree_scores: decision trees as tables of nodes. A vector has one lane for each tree: all of them
// descend at the same time, and a leaf leads to itself. The loop over the levels therefore has no
// branch, and the loads of different trees overlap.
//
// A work item is a block of rows. All its rows descend a group of trees before the next group
// starts, so that the nodes of the group stay in the cache.
#include <limits>

#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

constexpr int64_t kBlockRows = 64;

class TreeKernel {
 public:
  TreeKernel(KernelBuilder& k, graph::TreeScoresOp op)
      : k_(k),
        x_(k.operand(op.getX(), Elements::kNumbers)),
        thresholds_(k.operand(op.getThresholds(), Elements::kNumbers)),
        features_(k.operand(op.getFeatures(), Elements::kNumbers)),
        next_(k.operand(op.getNext(), Elements::kNumbers)),
        roots_(k.operand(op.getRoots(), Elements::kNumbers)),
        depths_(k.operand(op.getDepths(), Elements::kNumbers)),
        weights_(k.operand(op.getWeights(), Elements::kNumbers)),
        combine_(op.getCombine()),
        lanes_(k.lanes(x_.dtype)) {
    if (!op.getEntries().empty()) {
      starts_ = k.operand(op.getEntries()[0], Elements::kNumbers);
      columns_ = k.operand(op.getEntries()[1], Elements::kNumbers);
    }
    has_entries_ = !op.getEntries().empty();
    result_ = k.result(op.getResult(), Elements::kNumbers);
    rows_ = k.param(shape_of(op.getX())[0]);
    row_width_ = k.param(shape_of(op.getX())[1]);
    width_ = k.param(shape_of(op.getResult())[1]);
    trees_ = k.param(shape_of(op.getRoots())[0]);
    last_node_ = k.param(shape_of(op.getThresholds())[0] - 1);
    last_weight_ = k.param(shape_of(op.getWeights())[0] - 1);
  }

  void score_block(Term block) {
    Term first = block * kBlockRows, last = min(first + kBlockRows, rows_);
    k_.fill(result_, first * width_, (last - first) * width_, neutral());
    // Rows without elements reach no leaf.
    Term count = select(k_.index(0) < row_width_, trees_, k_.index(0));
    k_.loop(k_.index(0), count, lanes_, [&](Term tree) {
      Term mask = lanes_ == 1 ? Term() : k_.mask(min(trees_ - tree, k_.index(lanes_)), lanes_);
      Term roots = node_in_range(k_.load(roots_, tree, lanes_, mask));
      // The first tree of a group is its deepest one.
      Term depth = convert(k_.load(depths_, tree), k_.index_type());
      k_.loop(first, last, 1, [&](Term row) {
        Term leaves = descend(row * row_width_, roots, depth, mask);
        if (has_entries_)
          add_entries(leaves, min(trees_ - tree, k_.index(lanes_)), row * width_);
        else
          add_weights(leaves, row, mask);
      });
    });
  }

 private:
  Term neutral() {
    const double infinity = std::numeric_limits<double>::infinity();
    Term zero = k_.zero(result_);
    if (combine_ == graph::TreeScore::kSum) return zero;
    return zero.number(combine_ == graph::TreeScore::kMin ? infinity : -infinity);
  }

  Term combined(Term a, Term b) {
    if (combine_ == graph::TreeScore::kSum) return a + b;
    return combine_ == graph::TreeScore::kMin ? min(a, b) : max(a, b);
  }

  // The elements at `at` + each of the i32 positions.
  Term gather(const Buffer& buffer, Term at, Term positions, Term mask) {
    if (lanes_ == 1) return k_.load(buffer, at + convert(positions, k_.index_type()));
    return k_.gather(buffer, at, positions, mask);
  }

  Term lanes_of(Term scalar) { return k_.splat(to_i32(scalar), lanes_); }
  Term clamped(Term x, Term last) {
    Term zero = x.integer(0);
    return max(min(x, last), zero);
  }
  Term node_in_range(Term node) { return clamped(node, lanes_of(last_node_)); }

  // The leaf that the row, whose elements start at `from`, reaches in each tree.
  Term descend(Term from, Term roots, Term depth, Term mask) {
    Term last_feature = lanes_of(row_width_ - 1), last_node = lanes_of(last_node_);
    return k_.loop(k_.index(0), depth, 1, {roots}, [&](Term, llvm::ArrayRef<Term> nodes) {
      Term feature = gather(features_, k_.index(0), nodes[0], mask);
      Term threshold = gather(thresholds_, k_.index(0), nodes[0], mask);
      Term next = gather(next_, k_.index(0), nodes[0], mask);
      Term x = gather(x_, from, clamped(shift_right_signed(feature, 1), last_feature), mask);
      Term follows_nan = (feature & feature.integer(1)) != feature.integer(0);
      Term is_true = (x <= threshold) | (is_nan(x) & follows_nan);
      Term chosen = select(is_true, next, next + next.integer(1));
      return Terms{clamped(chosen, last_node)};
    })[0];
  }

  void add_weights(Term leaves, Term row, Term mask) {
    Term weights = gather(weights_, k_.index(0), leaves, mask);
    if (lanes_ > 1) {
      // Lanes without a tree are 0.
      weights = k_.make<mlir::vector::ReductionOp>(mlir::vector::CombiningKind::ADD, weights.value);
    }
    k_.store(result_, row, k_.load(result_, row) + weights);
  }

  void add_entries(Term leaves, Term count, Term to) {
    for (int64_t lane = 0; lane < lanes_; ++lane) {
      k_.when(k_.index(lane) < count, [&] {
        Term leaf = convert(lanes_ == 1 ? leaves : k_.extract(leaves, lane), k_.index_type());
        Term low = entry_at(leaf), high = entry_at(leaf + 1);
        k_.loop(low, high, 1, [&](Term entry) {
          Term column = convert(k_.load(columns_, entry), k_.index_type());
          Term at = to + clamp(column, k_.index(0), width_ - 1);
          k_.store(result_, at, combined(k_.load(result_, at), k_.load(weights_, entry)));
        });
      });
    }
  }

  Term entry_at(Term node) {
    Term entry = convert(k_.load(starts_, node), k_.index_type());
    return clamp(entry, k_.index(0), last_weight_ + 1);
  }

  KernelBuilder& k_;
  Buffer x_, thresholds_, features_, next_, roots_, depths_, weights_;
  graph::TreeScore combine_;
  int64_t lanes_;
  bool has_entries_ = false;
  Buffer starts_, columns_, result_;
  Term rows_, row_width_, width_, trees_, last_node_, last_weight_;
};

}  // namespace

llvm::LogicalResult lower(graph::TreeScoresOp op, LoweringContext& context) {
  KernelBuilder k(context, op, "tree_scores");
  TreeKernel kernel(k, op);
  k.loop(k.begin(), k.end(), 1, [&](Term block) { kernel.score_block(block); });
  return k.launch(ceildiv(shape_of(op.getX())[0], kBlockRows), 1);
}

}  // namespace scopevm::compiler::kernels
