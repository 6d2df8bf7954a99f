// tree_scores: decision trees as a table of nodes. Several trees descend at the same time, so that
// their loads overlap, and a leaf leads to itself. The loop over the levels therefore has no branch
// that depends on data. Loads of single elements are used, because a gather is not faster where its
// elements are in different cache lines.
//
// A work item is a block of rows. All rows of a few blocks descend a group of trees before the next
// group starts, so that the nodes of the group stay in the cache.
#include <limits>

#include "compiler/graph/values/constant_array.h"
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

constexpr int64_t kBlockRows = 64;
constexpr int64_t kBlocks = 16;  // that descend a group of trees
constexpr int64_t kGroup = 8;    // trees
// Columns whose sums are in registers.
constexpr int64_t kMostColumns = 4;

// The table of nodes: see TreeScoresOp.
struct Records {
  int64_t size;      // elements of a record
  int64_t leaf_at;   // the element with the number of the leaf
  bool are_trusted;  // no index needs to be clamped
};

// Whether all indices of the tables, which must be constants, are in range.
bool has_valid_indices(graph::TreeScoresOp op, const Records& records) {
  const auto features = graph::type_of(op.getX()).getDim(1).as_constant();
  auto table = [](mlir::Value value) { return value.getDefiningOp<graph::ConstantOp>(); };
  graph::ConstantOp nodes_op = table(op.getNodes()), roots_op = table(op.getRoots());
  if (!nodes_op || !roots_op || !features) return false;
  const graph::ConstantArray nodes(nodes_op), roots(roots_op);
  const int64_t count = nodes.count(), last = count - records.size;
  // The indices of entries are always clamped.
  const int64_t leaves = op.getEntries().empty()
                             ? *graph::type_of(op.getWeights()).getDim(0).as_constant() /
                                   static_cast<int64_t>(op.getWidth())
                             : std::numeric_limits<int64_t>::max();
  for (int64_t i = 0; i < roots.count(); ++i)
    if (roots.integer(i) < 0 || roots.integer(i) > last) return false;
  // No number is true for a leaf, which names the record before it.
  auto is_leaf = [&](int64_t at) {
    const auto high = static_cast<uint32_t>(nodes.integer(at + records.leaf_at - 1));
    return records.size == 4 ? (high & 0x7fffffff) > 0x7f800000 : (high & 0x7fffffff) > 0x7ff00000;
  };
  for (int64_t at = 0; at < count; at += records.size) {
    const int64_t next = nodes.integer(at) & ~int64_t{op.getFollowsNan()};
    const int64_t feature = nodes.integer(at + 1), leaf = nodes.integer(at + records.leaf_at);
    // A NaN can be true also for a threshold of NaN.
    const bool has_true = !is_leaf(at) || next != nodes.integer(at);
    if (next < (has_true ? 0 : -records.size) || next + records.size > last || feature < 0 ||
        feature >= *features || leaf < 0 || leaf >= leaves)
      return false;
  }
  return true;
}

class TreeKernel {
 public:
  TreeKernel(KernelBuilder& k, graph::TreeScoresOp op)
      : k_(k),
        x_(k.operand(op.getX(), Elements::kNumbers)),
        nodes_(k.operand(op.getNodes(), Elements::kNumbers)),
        roots_(k.operand(op.getRoots(), Elements::kNumbers)),
        depths_(k.operand(op.getDepths(), Elements::kNumbers)),
        weights_(k.operand(op.getWeights(), Elements::kNumbers)),
        combine_(op.getCombine()),
        columns_(static_cast<int64_t>(op.getWidth())),
        follows_nan_(op.getFollowsNan()),
        has_entries_(!op.getEntries().empty()) {
    if (has_entries_) {
      starts_ = k.operand(op.getEntries()[0], Elements::kNumbers);
      entry_columns_ = k.operand(op.getEntries()[1], Elements::kNumbers);
      last_start_ = k.param(graph::type_of(op.getEntries()[0]).getDim(0) - 1);
    }
    records_.size = graph::TreeScoresOp::recordSize(x_.dtype);
    records_.leaf_at = x_.dtype == DType::kF64 ? 4 : 3;
    records_.are_trusted = has_valid_indices(op, records_);
    result_ = k.result(op.getResult(), Elements::kNumbers);
    rows_ = k.param(shape_of(op.getX())[0]);
    row_width_ = k.param(shape_of(op.getX())[1]);
    trees_ = k.param(shape_of(op.getRoots())[0]);
    last_record_ = k.param(shape_of(op.getNodes())[0] - records_.size);
    last_weight_ = k.param(shape_of(op.getWeights())[0] - 1);
  }

  // The rows of blocks [begin, end).
  void score(Term begin, Term end) {
    const Term first = begin * kBlockRows, last = min(end * kBlockRows, rows_);
    k_.fill(result_, first * columns_, (last - first) * columns_, neutral());
    // Rows without elements reach no leaf.
    const Term count = select(k_.index(0) < row_width_, trees_, k_.index(0));
    const Term whole = quotient(count, kGroup) * kGroup;
    k_.loop(k_.index(0), whole, kGroup, [&](Term tree) { score_trees(tree, kGroup, first, last); });
    k_.loop(whole, count, 1, [&](Term tree) { score_trees(tree, 1, first, last); });
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

  Term load_index(const Buffer& buffer, Term at) {
    return convert(k_.load(buffer, at), k_.index_type());
  }
  Term clamped(Term index, Term last) {
    return records_.are_trusted ? index : clamp(index, k_.index(0), last);
  }

  void score_trees(Term tree, int64_t count, Term first, Term last) {
    Terms roots;
    for (int64_t i = 0; i < count; ++i)
      roots.push_back(clamped(load_index(roots_, tree + i), last_record_));
    // The first tree is the deepest one.
    const Term depth = load_index(depths_, tree);
    k_.loop(first, last, 1, [&](Term row) {
      const Term x = row * row_width_;
      const Terms leaves = k_.loop(k_.index(0), depth, 1, roots, [&](Term, auto nodes) {
        Terms next;
        for (const Term& node : nodes) next.push_back(step(x, node));
        return next;
      });
      if (has_entries_)
        add_entries(leaves, row * columns_);
      else
        add_weights(leaves, row * columns_);
    });
  }

  // The record that follows the one at `node` for the row whose elements start at `row`.
  Term step(Term row, Term node) {
    Term next = load_index(nodes_, node);
    const Term feature = clamped(load_index(nodes_, node + 1), row_width_ - 1);
    const Term x = k_.load(x_, row + feature);
    Term is_true = x <= threshold(node);
    if (follows_nan_) {
      is_true = is_true | (is_nan(x) & ((next & k_.index(1)) != k_.index(0)));
      next = next & k_.index(-2);
    }
    // Arithmetic, because a select could become a branch, which would often be mispredicted.
    const Term is_false = is_true ^ k_.boolean(true);
    const Term skipped = k_.make<mlir::arith::IndexCastUIOp>(k_.index_type(), is_false.value);
    return clamped(next + skipped * records_.size, last_record_);
  }

  Term threshold(Term node) {
    const Term low = k_.load(nodes_, node + 2);
    if (x_.dtype == DType::kF32)
      return k_.make<mlir::arith::BitcastOp>(k_.builder().getF32Type(), low.value);
    const mlir::Type wide = k_.builder().getI64Type();
    const Term high = k_.load(nodes_, node + 3);
    const Term bits = k_.make<mlir::arith::ExtUIOp>(wide, low.value) |
                      shift_left(k_.make<mlir::arith::ExtUIOp>(wide, high.value), 32);
    return k_.make<mlir::arith::BitcastOp>(k_.builder().getF64Type(), bits.value);
  }

  // The number of the leaf at each record.
  Terms leaf_numbers(llvm::ArrayRef<Term> records) {
    Terms numbers;
    for (const Term& record : records)
      numbers.push_back(load_index(nodes_, record + records_.leaf_at));
    return numbers;
  }

  // Adds the weights of all leaves in the order of the trees.
  void add_weights(llvm::ArrayRef<Term> records, Term to) {
    const Terms leaves = leaf_numbers(records);
    const auto add = [&](Term column) {
      Term sum = k_.load(result_, to + column);
      for (const Term& leaf : leaves)
        sum = sum + k_.load(weights_, clamped(leaf * columns_ + column, last_weight_));
      k_.store(result_, to + column, sum);
    };
    if (columns_ > kMostColumns) return k_.loop(k_.index(0), k_.index(columns_), 1, add);
    for (int64_t column = 0; column < columns_; ++column) add(k_.index(column));
  }

  void add_entries(llvm::ArrayRef<Term> records, Term to) {
    for (const Term& leaf : leaf_numbers(records)) {
      const Term low = entry_at(leaf), high = entry_at(leaf + 1);
      k_.loop(low, high, 1, [&](Term entry) {
        const Term column = load_index(entry_columns_, entry);
        const Term at = to + clamp(column, k_.index(0), k_.index(columns_ - 1));
        k_.store(result_, at, combined(k_.load(result_, at), k_.load(weights_, entry)));
      });
    }
  }

  Term entry_at(Term leaf) {
    const Term start = clamp(leaf, k_.index(0), last_start_);
    return clamp(load_index(starts_, start), k_.index(0), last_weight_ + 1);
  }

  KernelBuilder& k_;
  Buffer x_, nodes_, roots_, depths_, weights_;
  graph::TreeScore combine_;
  int64_t columns_;
  bool follows_nan_, has_entries_;
  Records records_;
  Buffer starts_, entry_columns_, result_;
  Term rows_, row_width_, trees_, last_record_, last_weight_, last_start_;
};

}  // namespace

llvm::LogicalResult lower(graph::TreeScoresOp op, LoweringContext& context) {
  KernelBuilder k(context, op, "tree_scores");
  TreeKernel kernel(k, op);
  const Term end = k.end();
  k.loop(k.begin(), end, kBlocks,
         [&](Term block) { kernel.score(block, min(block + kBlocks, end)); });
  return k.launch(ceildiv(shape_of(op.getX())[0], kBlockRows), 1);
}

}  // namespace scopevm::compiler::kernels
