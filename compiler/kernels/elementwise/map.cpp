// Lowers elementwise ops to one loop over the elements of their results. A work item is one
// element, so that any partition of the grid is balanced. The range of a task can start and end
// inside a row of the iteration space.
#include "compiler/kernels/elementwise/map.h"
#include "compiler/kernels/elementwise/evaluate.h"

namespace scopevm::compiler::kernels {
namespace {

class MapKernel {
 public:
  MapKernel(const FusedBody& body, LoweringContext& context)
      : body_(body),
        k_(context, body.op, "map"),
        shape_(graph::type_of(body.results[0]).getShape()),
        evaluator_(k_, body, shape_, llvm::SmallVector<int>(shape_.size(), 0)),
        lanes_(lane_count(body, k_.target())) {
    for (mlir::Value result : body.op->getResults())
      results_.push_back(k_.result(result, Elements::kNumbers));
    // With several results, a store of the first could overwrite an operand of the second.
    if (results_.size() == 1) evaluator_.allow_in_place(results_[0]);
  }

  llvm::LogicalResult lower() {
    if (evaluator_.space().dims.size() == 1)
      span({}, k_.index(0), k_.begin(), k_.end());
    else
      rows();
    return k_.launch(element_count(shape_), grain_of_operations(1, cost_of(body_)));
  }

 private:
  // Emits the computation of elements [first, end) of the result, which are in one row. `row_first`
  // is the row's first element.
  void span(llvm::ArrayRef<Term> index, Term row_first, Term first, Term end) {
    Evaluator::Row at = evaluator_.at(index, row_first);
    Term column = first - row_first;
    k_.for_lanes(end - first, lanes_, Tail::kMasked, [&](const Lanes& lanes) {
      Lanes shifted = lanes;
      shifted.offset = lanes.offset + column;
      TermMap known;
      for (size_t i = 0; i < results_.size(); ++i) {
        Term value = evaluator_.evaluate(body_.results[i], at, shifted, known);
        k_.store_number(results_[i], shifted.offset + row_first, value, shifted.mask);
      }
    });
  }

  // Processes the elements of the range row by row.
  void rows() {
    size_t inner = evaluator_.space().dims.size() - 1;
    Terms sizes = evaluator_.sizes(0, inner);
    // The grid is empty if the inner dim is, but the division must not trap.
    Term length = max(evaluator_.size(inner), k_.index(1));
    Term row = quotient(k_.begin(), length);
    // State: the next element, its index in the outer dims, and the first element of its row.
    Terms start = {k_.begin()};
    start.append(k_.split_index(row, sizes));
    start.push_back(row * length);
    k_.loop_while(
        start, [&](auto now) { return less(now.front(), k_.end(), /*is_unsigned=*/true); },
        [&](llvm::ArrayRef<Term> now) {
          llvm::ArrayRef<Term> index = now.drop_front().drop_back();
          Term row_first = now.back(), row_end = row_first + length;
          Term end = min(row_end, k_.end());
          span(index, row_first, now.front(), end);
          Terms next = {end};
          next.append(k_.next_index(index, sizes));
          next.push_back(row_end);
          return next;
        });
  }

  const FusedBody& body_;
  KernelBuilder k_;
  llvm::ArrayRef<DimExpr> shape_;
  Evaluator evaluator_;
  llvm::SmallVector<Buffer> results_;
  int64_t lanes_;
};

}  // namespace

llvm::LogicalResult lower_map(const FusedBody& body, LoweringContext& context) {
  graph::TensorType first = graph::type_of(body.results[0]);
  for (mlir::Value result : body.results)
    if (graph::type_of(result).getShape() != first.getShape())
      return body.op->emitError("results of one elementwise group have different shapes");
  return MapKernel(body, context).lower();
}

}  // namespace scopevm::compiler::kernels
