// Elementwise ops -> one loop over the elements of their results. Work items are elements, so any
// cut of the grid gives equal work; a range may start and end inside a row of the space.
#include <algorithm>

#include "compiler/kernels/elementwise/evaluate.h"
#include "compiler/kernels/elementwise/map.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace scopevm::compiler::kernels {
namespace {

namespace arith = mlir::arith;
namespace scf = mlir::scf;

class MapKernel {
 public:
  MapKernel(const FusedBody& body, LoweringContext& context)
      : body_(body), draft_(context, body.op), shape_(tensor_type(body.results[0]).getShape()) {}

  void lower() {
    llvm::SmallVector<int> tags(shape_.size(), 0);
    Evaluator evaluator(draft_, body_, shape_, tags);
    evaluator_ = &evaluator;
    for (mlir::Value result : body_.op->getResults()) results_.push_back(draft_.result(result));
    if (results_.size() == 1) evaluator.allow_in_place(results_[0]);
    lanes_ = lane_count(body_, draft_.context().kernels().target());
    draft_.open();
    if (evaluator.space().dims.size() == 1)
      span({}, draft_.index(0).value, draft_.begin(), draft_.end());
    else
      rows();
    draft_.launch("map", element_count(shape_), grain_of(1, cost_of(body_)));
  }

 private:
  // Elements [first, end) of the result, which lie in one row; the row's first is `row_first`.
  void span(llvm::ArrayRef<mlir::Value> index, mlir::Value row_first, mlir::Value first,
            mlir::Value end) {
    Term row = draft_.term(row_first);
    Evaluator::Row at = evaluator_->at(index, row_first);
    Term column = draft_.term(first) - row;
    for_lanes(draft_, (draft_.term(end) - draft_.term(first)).value, lanes_,
              [&](const Lanes& lanes) {
                Lanes shifted = lanes;
                shifted.offset = (draft_.term(lanes.offset) + column).value;
                ValueMap known;
                for (size_t i = 0; i < results_.size(); ++i) {
                  mlir::Value value = evaluator_->evaluate(body_.results[i], at, shifted, known);
                  store_lanes(draft_, results_[i], (draft_.term(shifted.offset) + row).value,
                              shifted, value);
                }
              });
  }

  // while position < end: the rest of a row, or up to the end.
  void rows() {
    mlir::OpBuilder& builder = draft_.builder();
    mlir::Location location = draft_.location();
    size_t inner = evaluator_->space().dims.size() - 1;
    llvm::SmallVector<mlir::Value> sizes = evaluator_->sizes(0, inner);
    Term length = draft_.term(
        builder.create<arith::MaxUIOp>(location, evaluator_->size(inner), draft_.index(1).value));
    mlir::Value row = builder.create<arith::DivUIOp>(location, draft_.begin(), length.value);
    llvm::SmallVector<mlir::Value> carried = split_index(draft_, row, sizes);
    carried.insert(carried.begin(), draft_.begin());
    carried.push_back((draft_.term(row) * length).value);
    auto loop = builder.create<scf::WhileOp>(
        location, mlir::TypeRange(mlir::ValueRange(carried)), carried,
        [&](mlir::OpBuilder& before, mlir::Location, mlir::ValueRange arguments) {
          mlir::Value more = before.create<arith::CmpIOp>(location, arith::CmpIPredicate::ult,
                                                          arguments[0], draft_.end());
          before.create<scf::ConditionOp>(location, more, arguments);
        },
        nullptr);
    mlir::OpBuilder::InsertionGuard guard(builder);
    mlir::Block* after = loop.getAfterBody();
    builder.setInsertionPointToEnd(after);
    llvm::SmallVector<mlir::Value> index;
    for (size_t i = 0; i < sizes.size(); ++i) index.push_back(after->getArgument(1 + i));
    Term first = draft_.term(after->getArgument(0));
    Term row_first = draft_.term(after->getArguments().back());
    Term row_end = row_first + length;
    mlir::Value end = builder.create<arith::MinUIOp>(location, row_end.value, draft_.end());
    span(index, row_first.value, first.value, end);
    llvm::SmallVector<mlir::Value> next = next_index(draft_, index, sizes);
    next.insert(next.begin(), end);
    next.push_back(row_end.value);
    builder.create<scf::YieldOp>(location, next);
  }

  const FusedBody& body_;
  KernelDraft draft_;
  llvm::ArrayRef<DimExpr> shape_;
  Evaluator* evaluator_ = nullptr;
  llvm::SmallVector<Buffer> results_;
  int lanes_ = 1;
};

}  // namespace

llvm::LogicalResult lower_map(const FusedBody& body, LoweringContext& context) {
  graph::TensorType first = tensor_type(body.results[0]);
  for (mlir::Value result : body.results)
    if (tensor_type(result).getShape() != first.getShape())
      return body.op->emitError("results of one elementwise group have different shapes");
  MapKernel(body, context).lower();
  return mlir::success();
}

}  // namespace scopevm::compiler::kernels
