// Splits the dims of x around run-time axes; see run_time_axes.h.
#include "compiler/import/ops/layout/run_time_axes.h"
#include "compiler/graph/type_rule.h"
#include "scopevm/tensor.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// Compares each run-time axis with all axes of a tensor of rank `rank`. The results are small
// matrices with one row per run-time axis and one column per axis of the tensor.
class AxisTable {
 public:
  AxisTable(Node& n, Value axes, int64_t rank, int64_t count) : n_(n), rank_(rank), count_(count) {
    Value given = n.reshape(n.cast(axes, DType::kI64), {DimExpr(count), DimExpr(1)});
    Value from_end = n.emit<AddOp>({given, number(rank)});
    axes_ = n.emit<SelectOp>({n.emit<LessOp>({given, number(0)}), from_end, given});
    all_ = n.constant(first_axes(rank));
    is_ = n.emit<EqualOp>({axes_, all_});
    hits_ = n.cast(is_, DType::kI64);
    Value given_to =
        n.emit<ReduceSumOp>({hits_}, {n.attr("axes", Ints{0}), n.attr("keep_dims", false)});
    is_given_ = n.emit<LessOp>({number(0), given_to});
  }

  Value number(int64_t value) { return n_.scalar(static_cast<double>(value), DType::kI64); }
  Value axes() { return n_.reshape(axes_, {DimExpr(count_)}); }  // normalised to [0, rank)
  Value is_given() { return is_given_; }                         // bool[rank]
  // The number of distinct axes, as one element.
  Value distinct() { return sum(n_.cast(is_given_, DType::kI64)); }

  // i64[count, 3], flattened: for each axis, the products of `dims` before, at and after it. The
  // dims of axes in earlier rows count as 1.
  Value products(Value dims) {
    Value earlier = n_.emit<CumSumOp>(
        {hits_},
        {n_.attr("axis", int64_t{0}), n_.attr("exclusive", true), n_.attr("reverse", false)});
    // The caller reduces the axes one after the other, so an earlier axis has size 1 in the view of
    // a later one.
    Value now = n_.emit<SelectOp>({n_.emit<LessOp>({number(0), earlier}), number(1), dims});
    llvm::SmallVector<Value> columns;
    for (Value mask : {n_.emit<LessOp>({all_, axes_}), is_, n_.emit<LessOp>({axes_, all_})})
      columns.push_back(
          n_.emit<ReduceProdOp>({n_.emit<SelectOp>({mask, now, number(1)})},
                                {n_.attr("axes", Ints{1}), n_.attr("keep_dims", true)}));
    Value all = n_.concat(columns, 1);
    return n_.reshape(all, {DimExpr(3 * count_)});
  }

  Value with_ones(Value dims) { return n_.emit<SelectOp>({is_given_, number(1), dims}); }

  // The dims that are not among the axes, in order.
  Value without(Value dims) {
    Value last = n_.emit<SelectOp>({is_given_, number(rank_), number(0)});
    // The sort key of an axis is its index, plus the rank if it is one of the run-time axes. The
    // smallest rank - count keys are therefore the other axes, in order.
    mlir::Operation* order = n_.emit(TopKOp::getOperationName(), {n_.emit<AddOp>({last, all_})},
                                     {n_.attr("k", Dims{DimExpr(rank_ - count_)}),
                                      n_.attr("axis", int64_t{0}), n_.attr("largest", false)});
    if (!order) return {};
    return n_.emit<GatherOp>({dims, order->getResult(1)}, {n_.attr("axis", int64_t{0})});
  }

  // `dims` in order at the positions that are not among the axes, and 1 at the axes.
  Value with_new_axes(Value dims) {
    Value is_old = n_.emit<SelectOp>({is_given_, number(0), number(1)});
    Value place = n_.emit<CumSumOp>(
        {is_old},
        {n_.attr("axis", int64_t{0}), n_.attr("exclusive", true), n_.attr("reverse", false)});
    Value old = n_.emit<GatherOp>({dims, place}, {n_.attr("axis", int64_t{0})});
    return n_.emit<SelectOp>({is_given_, number(1), old});
  }

 private:
  Value sum(Value x) {
    return n_.emit<ReduceSumOp>({x}, {n_.attr("axes", Ints{0}), n_.attr("keep_dims", true)});
  }

  Node& n_;
  int64_t rank_, count_;
  // axes_: i64[count, 1], the run-time axes, normalised to [0, rank). all_: i64[rank], all axes in
  // order. is_, hits_: [count, rank], whether entry i of axes_ is axis j, as bool and as i64.
  // is_given_: bool[rank], whether axes_ contains axis j.
  Value axes_, all_, is_, hits_, is_given_;
};

void require_distinct(Node& n, DimExpr distinct, int64_t count, int64_t rank) {
  n.require_equal(distinct, count,
                  "its axes must be distinct and in range for rank " + std::to_string(rank) +
                      ": {0} of {1} are");
}

Dims read(Node& n, llvm::ArrayRef<Value> parts) {
  return n.dims_of(n.concat(parts, 0), "the axes");
}

}  // namespace

std::optional<int64_t> count_of_axes(Node& n, Value axes) {
  std::optional<int64_t> count = n.type(axes).getElementCount().as_constant();
  if (!count || n.rank(axes) > 1)
    n.unsupported("the number of axes is data-dependent: the axes are " + text_of(n.type(axes)) +
                  ", expected rank 0 or 1 with a constant size");
  else if (n.dtype(axes) != DType::kI64 && n.dtype(axes) != DType::kI32)
    n.fail("axes must be i64 or i32, but are " + text_of(n.type(axes)));
  else if (*count > kMaxRank)
    n.fail(llvm::Twine(*count) + " axes given, expected at most " + llvm::Twine(kMaxRank));
  else
    return count;
  return std::nullopt;
}

RunTimeAxes::RunTimeAxes(Node& n, Value axes, Value x) {
  std::optional<int64_t> count = count_of_axes(n, axes);
  int64_t rank = n.rank(x);
  if (!count) return;
  if (*count > rank) {
    n.fail(llvm::Twine(*count) + " axes given, expected at most " + llvm::Twine(rank) + " for " +
           text_of(n.type(x)));
    return;
  }
  AxisTable table(n, axes, rank, *count);
  Value dims = n.dims_value(Dims(n.shape(x)));
  // All numbers are read at once: each sv.read_dims starts a new segment.
  Dims facts =
      read(n, {table.distinct(), table.products(dims), table.with_ones(dims), table.without(dims)});
  if (n.has_failed()) return;
  require_distinct(n, facts[0], *count, rank);
  for (int64_t i = 0; i < *count; ++i)
    views_.push_back({facts[1 + 3 * i], facts[2 + 3 * i], facts[3 + 3 * i]});
  auto rest = llvm::ArrayRef<DimExpr>(facts).drop_front(1 + 3 * *count);
  with_ones_ = Dims(rest.take_front(rank));
  without_ = Dims(rest.drop_front(rank));
}

Dims dims_with_new_axes(Node& n, Value axes, Value x) {
  std::optional<int64_t> count = count_of_axes(n, axes);
  if (!count) return {};
  int64_t rank = n.rank(x) + *count;
  AxisTable table(n, axes, rank, *count);
  Dims facts = read(n, {table.distinct(), table.with_new_axes(n.dims_value(Dims(n.shape(x))))});
  if (n.has_failed()) return {};
  require_distinct(n, facts[0], *count, rank);
  return Dims(llvm::ArrayRef<DimExpr>(facts).drop_front());
}

Value over_all_axes(Node& n, Value axes, Value values, int64_t rank, int64_t otherwise) {
  std::optional<int64_t> count = count_of_axes(n, axes);
  if (!count) return {};
  AxisTable table(n, axes, rank, *count);
  Dims distinct = n.dims_of(table.distinct(), "the axes");
  if (n.has_failed()) return {};
  require_distinct(n, distinct[0], *count, rank);
  Value all = n.constant(Ints(static_cast<size_t>(rank), otherwise));
  return n.emit<ScatterElementsOp>({all, table.axes(), n.cast(values, DType::kI64)},
                                   {n.attr("axis", int64_t{0}), n.attr("reduction", "none")});
}

}  // namespace scopevm::compiler::frontend
