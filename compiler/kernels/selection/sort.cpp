// sort_rows returns the row numbers of a matrix in ascending order of its rows. unique_rows finds
// groups of equal rows from the result of sort_rows.
//
// The sort is a stable merge sort of row numbers. One kernel sorts blocks of rows in parallel. A
// second kernel merges all blocks in one task.
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"
#include "compiler/kernels/selection/order.h"

namespace scopevm::compiler::kernels {
namespace {

// Rows per block. A pair of merge passes multiplies the length of sorted runs by 4. With a power of
// 4, each pass over a full block merges runs.
constexpr int64_t kBlockRows = 1024;

// Compares the rows of x lexicographically.
class Rows {
 public:
  Rows(KernelBuilder& k, mlir::Value x)
      : k_(k), x_(k.operand(x, Elements::kNumbers)), is_single_(shape_of(x)[1].is_constant(1)) {
    width_ = k.param(shape_of(x)[1]);
    last_ = k.param(shape_of(x)[0]) - 1;
  }

  // The row number at position `at` of `numbers`. Clamped, so that accesses to rows stay in bounds
  // for any contents of the buffer. REQUIRES: x has rows.
  Term number_at(Buffer numbers, Term at) const {
    return clamp(convert(k_.load(numbers, at), k_.index_type()), k_.index(0), last_);
  }

  // True if row `a` is strictly before row `b`. Both are row numbers.
  Term is_before(Term a, Term b) {
    if (is_single_) return is_below(k_.load_number(x_, a), k_.load_number(x_, b), x_.dtype);
    Term yes = k_.index(0) == k_.index(0), no = k_.index(0) == k_.index(1);
    Terms end = k_.loop_while(
        {k_.index(0), no, yes}, [&](auto now) { return now[2] & (now[0] < width_); },
        [&](auto now) {
          Term of_a = k_.load_number(x_, a * width_ + now[0]);
          Term of_b = k_.load_number(x_, b * width_ + now[0]);
          Term below = is_below(of_a, of_b, x_.dtype), above = is_below(of_b, of_a, x_.dtype);
          return Terms{now[0] + 1, below, select(below, no, select(above, no, yes))};
        });
    return end[1];
  }

 private:
  KernelBuilder& k_;
  Buffer x_;
  bool is_single_;
  Term width_, last_;
};

class MergeSort {
 public:
  MergeSort(KernelBuilder& k, Rows& rows, Buffer order, Buffer scratch)
      : k_(k), rows_(rows), order_(order), scratch_(scratch) {}

  // Merges the sorted runs of `width` rows in [low, high) of order_ into one run. A pass merges
  // pairs of runs from one buffer into the other. Passes are executed in pairs, from order_ to
  // scratch_ and back, so that the result is in order_.
  void merge_runs(Term low, Term high, int64_t width) {
    k_.loop_while(
        {k_.index(width)}, [&](auto now) { return now[0] < high - low; },
        [&](auto now) {
          pass(order_, scratch_, low, high, now[0]);
          pass(scratch_, order_, low, high, now[0] * 2);
          return Terms{now[0] * 4};
        });
  }

 private:
  void pass(Buffer from, Buffer to, Term low, Term high, Term width) {
    Term pairs = ceil_quotient(high - low, width * 2);
    k_.loop(k_.index(0), pairs, 1, [&](Term i) {
      Term start = low + i * width * 2;
      Term middle = min(start + width, high), end = min(start + width * 2, high);
      merge(from, to, start, middle, end);
    });
  }

  // Merges [start, middle) and [middle, end) of `from` into [start, end) of `to`.
  void merge(Buffer from, Buffer to, Term start, Term middle, Term end) {
    Term last = end - 1;
    k_.loop(start, end, 1, {start, middle}, [&](Term at, auto now) {
      // A run whose rows are all merged has no next row. The position of its load is clamped to
      // stay valid, and the loaded value is not used.
      Term left = rows_.number_at(from, min(now[0], last));
      Term right = rows_.number_at(from, min(now[1], last));
      Term has_left = now[0] < middle, has_right = now[1] < end;
      // Of two equal rows, the left one is first: the sort is stable.
      Term is_right_before = rows_.is_before(right, left);
      Term no = k_.index(0) == k_.index(1);
      Term takes_right = select(has_right, select(has_left, is_right_before, has_right), no);
      k_.store(to, at, convert(select(takes_right, right, left), k_.builder().getI64Type()));
      return Terms{select(takes_right, now[0], now[0] + 1),
                   select(takes_right, now[1] + 1, now[1])};
    });
  }

  KernelBuilder& k_;
  Rows& rows_;
  Buffer order_, scratch_;
};

// Writes the row numbers to `blocks`, sorted within each block. The next kernel merges the blocks.
llvm::LogicalResult lower_sort_blocks(graph::SortRowsOp op, ValueId blocks,
                                      LoweringContext& context) {
  DimExpr count = shape_of(op.getX())[0];
  ValueId scratch = context.intermediate("scratch", DType::kI64, {count});
  KernelBuilder k(context, op, "sort_blocks");
  Rows rows(k, op.getX());
  Buffer order = k.result(blocks, DType::kI64);
  MergeSort sort(k, rows, order, k.result(scratch, DType::kI64));
  Term n = k.param(count);
  k.loop(k.begin(), k.end(), 1, [&](Term block) {
    Term low = block * kBlockRows, high = min(low + kBlockRows, n);
    k.loop(low, high, 1, [&](Term i) { k.store(order, i, convert(i, k.builder().getI64Type())); });
    sort.merge_runs(low, high, 1);
  });
  return k.launch(ceildiv(count, kBlockRows), grain_of_bytes(kBlockRows * 256));
}

}  // namespace

llvm::LogicalResult lower(graph::SortRowsOp op, LoweringContext& context) {
  DimExpr count = shape_of(op.getX())[0];
  ValueId blocks = context.intermediate("blocks", DType::kI64, {count});
  if (failed(lower_sort_blocks(op, blocks, context))) return mlir::failure();
  ValueId scratch = context.intermediate("scratch", DType::kI64, {count});
  KernelBuilder k(context, op, "merge_blocks");
  Rows rows(k, op.getX());
  Buffer from = k.operand(blocks, DType::kI64), order = k.result(op.getResult());
  MergeSort sort(k, rows, order, k.result(scratch, DType::kI64));
  Term n = k.param(count);
  k.copy(from, k.index(0), order, k.index(0), n);
  sort.merge_runs(k.index(0), n, kBlockRows);
  return k.launch(1, grain_of_bytes(1));
}

namespace {

// Emits the search for groups of equal rows, which are adjacent in the sorted order.
class Groups {
 public:
  Groups(KernelBuilder& k, graph::UniqueRowsOp op)
      : k_(k),
        rows_(k, op.getX()),
        order_(k.operand(op.getOrder())),
        first_(k.result(op.getFirst())),
        group_(k.result(op.getGroup())),
        sizes_(k.result(op.getSizes())),
        count_(k.result(op.getCount())),
        n_(k.param(shape_of(op.getX())[0])),
        i64_(k.builder().getI64Type()) {}

  // Numbers the groups in sorted order. Writes the number of the first row of each group to `first`
  // and the size of the group to `sizes`. Also writes the group of each row to group_, and the
  // number of groups to count_.
  void find(Buffer first, Buffer sizes) {
    Term found = each_row([&](Term i, Term groups) {
      Term at = load(order_, i), before = load(order_, max(i - 1, k_.index(0)));
      Term is_first = i == 0;
      // Adjacent rows in sorted order are equal unless the earlier is strictly before the later.
      Term is_new = select(is_first, is_first, rows_.is_before(before, at));
      Term now = select(is_new, groups + 1, groups), group = now - 1;
      k_.when(is_new, [&] {
        store(first, group, at);
        store(sizes, group, k_.index(0));
      });
      store(sizes, group, convert(k_.load(sizes, group), k_.index_type()) + 1);
      store(group_, at, group);
      return now;
    });
    store(count_, k_.index(0), found);
  }
  void find() { find(first_, sizes_); }

  // Like find(), but numbers the groups in the order of their first rows. The buffers are scratch
  // memory with one element per row. names[g] is the new number of the group with the sorted number
  // g.
  void find_by_first(Buffer first, Buffer sizes, Buffer names) {
    find(first, sizes);
    each_row([&](Term i, Term next) {
      Term group = load(group_, i);
      // The sort is stable, so `first` is the smallest row number of its group. The loop reaches it
      // before the other rows of the group.
      Term is_first = load(first, group) == i;
      k_.when(is_first, [&] {
        store(names, group, next);
        store(first_, next, i);
        k_.store(sizes_, next, k_.load(sizes, group));
      });
      store(group_, i, load(names, group));
      return select(is_first, next + 1, next);
    });
  }

 private:
  // Counts from 0: `step` receives the row and the count, and returns the new count.
  Term each_row(llvm::function_ref<Term(Term row, Term count)> step) {
    return k_.loop(k_.index(0), n_, 1, {k_.index(0)},
                   [&](Term row, auto count) { return Terms{step(row, count[0])}; })[0];
  }

  // Row numbers and group numbers are below the number of rows.
  Term load(Buffer buffer, Term at) { return rows_.number_at(buffer, at); }
  void store(Buffer buffer, Term at, Term value) { k_.store(buffer, at, convert(value, i64_)); }

  KernelBuilder& k_;
  Rows rows_;
  Buffer order_, first_, group_, sizes_, count_;
  Term n_;
  mlir::Type i64_;
};

}  // namespace

llvm::LogicalResult lower(graph::UniqueRowsOp op, LoweringContext& context) {
  KernelBuilder k(context, op, op.getByFirst() ? "unique_rows_by_first" : "unique_rows");
  Groups groups(k, op);
  if (op.getByFirst()) {
    llvm::SmallVector<Buffer, 3> scratch;
    for (const char* name : {"sorted_first", "sorted_sizes", "names"})
      scratch.push_back(
          k.result(context.intermediate(name, DType::kI64, {shape_of(op.getX())[0]}), DType::kI64));
    groups.find_by_first(scratch[0], scratch[1], scratch[2]);
  } else {
    groups.find();
  }
  return k.launch(1, grain_of_bytes(1));
}

}  // namespace scopevm::compiler::kernels
