// softmax, log_softmax and layer_norm along the innermost dims, with elementwise ops before and
// after. A work item is a row. A row is read from memory once: later passes find it in cache.
#include <algorithm>

#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/elementwise/evaluate.h"
#include "compiler/kernels/elementwise/vector_math.h"
#include "compiler/kernels/reduction/combine.h"
#include "compiler/kernels/reduction/reduction.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

namespace arith = mlir::arith;
namespace vector = mlir::vector;
using Values = llvm::SmallVector<mlir::Value>;

Term exponential(Term x) {
  if (x.element().isF32()) return exp_f32(x);
  return x.with(x.builder->create<mlir::math::ExpOp>(x.location, x.value));
}

class RowKernel {
 public:
  RowKernel(const FusedBody& body, mlir::Operation* op, LoweringContext& context)
      : body_(body),
        op_(op),
        draft_(context, body.op),
        x_(op->getOperand(0)),
        type_(tensor_type(x_)) {}

  llvm::LogicalResult lower() {
    int64_t axis = op_->getAttrOfType<mlir::IntegerAttr>("axis").getInt();
    llvm::SmallVector<int> tags(type_.getRank(), 0);
    std::fill(tags.begin() + axis, tags.end(), 1);
    Evaluator evaluator(draft_, body_, type_.getShape(), tags, 1);
    evaluator_ = &evaluator;
    const Space& space = evaluator.space();
    size_t inner = space.dims.size() - 1;
    if (std::count(space.tags.begin(), space.tags.end(), 1) != 1)
      return body_.op->emitError("scale or bias of a layer_norm broadcasts along normalised dims");
    for (mlir::Value result : body_.op->getResults()) results_.push_back(draft_.result(result));
    if (results_.size() == 1) evaluator.allow_in_place(results_[0], op_);
    choose_scratch(space.dims[inner]);
    lanes_ = lane_count(body_, draft_.context().kernels().target());
    draft_.open();
    element_ = arithmetic_type(draft_.builder().getContext(), type_.getDtype());
    length_ = evaluator.size(inner);
    place_scratch();
    Values sizes = evaluator.sizes(0, inner);
    if (sizes.empty()) sizes.push_back(draft_.index(1).value);
    for_items(draft_, sizes, [&](mlir::Value item, llvm::ArrayRef<mlir::Value> index) {
      row_first_ = (draft_.term(item) * draft_.term(length_)).value;
      row_ = evaluator_->at(index.take_front(inner), row_first_);
      is_norm() ? normalise() : softmax();
    });
    DimExpr rows = 1;
    for (size_t dim = 0; dim < inner; ++dim) rows = rows * space.dims[dim];
    draft_.launch(is_norm() ? "norm" : "softmax", rows,
                  grain_of(space.dims[inner], 10 + cost_of(body_)));
    return mlir::success();
  }

 private:
  bool is_norm() const { return mlir::isa<graph::LayerNormOp>(op_); }

  // Where a row lies between passes: a result that holds the arithmetic type and is written last,
  // else memory of the worker.
  void choose_scratch(DimExpr length) {
    for (size_t i = 0; i < results_.size(); ++i) {
      mlir::Value value = body_.results[i];
      bool is_late = value == op_->getResult(0) || !is_before(value);
      if (is_late && results_[i].dtype == scratch_type()) scratch_ = results_[i];
    }
    if (scratch_.index >= 0) return;
    Temporary row{.bytes = length * DimExpr(byte_size(scratch_type())), .per_worker = true};
    scratch_ = draft_.temporary(scratch_type(), row);
    scratch_stride_ = draft_.param(round_up(row.bytes, 64));
  }

  DType scratch_type() const { return type_.getDtype() == DType::kF64 ? DType::kF64 : DType::kF32; }

  // Computed before the row op: not after it in the block.
  bool is_before(mlir::Value value) const {
    mlir::Operation* op = value.getDefiningOp();
    return !op || op->isBeforeInBlock(op_);
  }

  void place_scratch() {
    if (scratch_stride_.index < 0) return;
    Term stride = draft_.term(draft_.param(scratch_stride_));
    mlir::Value elements = draft_.builder().create<arith::DivUIOp>(
        draft_.location(), stride.value, draft_.index(byte_size(scratch_type())).value);
    worker_first_ = (draft_.term(draft_.worker()) * draft_.term(elements)).value;
  }

  mlir::Value scratch_at(const Lanes& lanes) {
    mlir::Value first = worker_first_ ? worker_first_ : row_first_;
    return (draft_.term(first) + draft_.term(lanes.offset)).value;
  }

  void store_result(size_t i, const Lanes& lanes, mlir::Value value) {
    mlir::Value at = (draft_.term(row_first_) + draft_.term(lanes.offset)).value;
    store_lanes(draft_, results_[i], at, lanes, value);
  }

  // One pass over the row that carries `first`, a vector; lanes outside of the row are ignored.
  mlir::Value pass(Combine how, llvm::function_ref<mlir::Value(const Lanes&)> value) {
    mlir::OpBuilder& builder = draft_.builder();
    mlir::VectorType type = lanes_type(element_, lanes_);
    mlir::Value rest =
        builder.create<arith::RemUIOp>(draft_.location(), length_, draft_.index(lanes_).value);
    mlir::Value whole = (draft_.term(length_) - draft_.term(rest)).value;
    auto step = [&](mlir::Value sum, const Lanes& lanes) {
      mlir::Value x = masked(draft_, how, lanes, value(lanes), false);
      if (how == Combine::kMax)  // NaN may be lost here: it comes back with the exponentials
        return choose(less(draft_.term(sum), draft_.term(x)), draft_.term(x), draft_.term(sum))
            .value;
      return combine(how, draft_.term(sum), draft_.term(x), false).value;
    };
    Values sums = for_range(draft_, draft_.index(0).value, whole, lanes_,
                            {neutral_value(draft_, how, type, false)},
                            [&](mlir::Value offset, mlir::ValueRange carried) {
                              return Values{step(carried[0], {lanes_, offset, nullptr})};
                            });
    sums = for_range(draft_, whole, length_, lanes_, sums,
                     [&](mlir::Value offset, mlir::ValueRange carried) {
                       mlir::Value mask = builder.create<vector::CreateMaskOp>(
                           draft_.location(), lanes_type(builder.getI1Type(), lanes_), rest);
                       return Values{step(carried[0], {lanes_, offset, mask})};
                     });
    return across_lanes(draft_, how, sums[0], false);
  }

  mlir::Value spread(mlir::Value scalar) {
    return draft_.builder().create<vector::BroadcastOp>(draft_.location(),
                                                        lanes_type(element_, lanes_), scalar);
  }

  // The row op's input in the first pass: computed, and kept when that took ops. Results that are
  // computed before the row op are stored here.
  mlir::Value first_look(const Lanes& lanes) {
    ValueMap known;
    mlir::Value x = evaluator_->evaluate(x_, row_, lanes, known);
    for (size_t i = 0; i < results_.size(); ++i)
      if (is_before(body_.results[i]))
        store_result(i, lanes, evaluator_->evaluate(body_.results[i], row_, lanes, known));
    if (body_.computes(x_)) store_lanes(draft_, scratch_, scratch_at(lanes), lanes, x);
    return x;
  }

  Term second_look(const Lanes& lanes) {
    if (body_.computes(x_))
      return draft_.term(load_lanes(draft_, scratch_, scratch_at(lanes), lanes));
    ValueMap known;
    return draft_.term(evaluator_->evaluate(x_, row_, lanes, known));
  }

  void finish(llvm::function_ref<mlir::Value(const Lanes&, ValueMap&)> result) {
    for_lanes(draft_, length_, lanes_, [&](const Lanes& lanes) {
      ValueMap known;
      known[op_->getResult(0)] = result(lanes, known);
      for (size_t i = 0; i < results_.size(); ++i)
        if (!is_before(body_.results[i]))
          store_result(i, lanes, evaluator_->evaluate(body_.results[i], row_, lanes, known));
    });
  }

  void softmax() {
    bool is_log = mlir::isa<graph::LogSoftmaxOp>(op_);
    mlir::Value most = pass(Combine::kMax, [&](const Lanes& lanes) { return first_look(lanes); });
    Term top = draft_.term(spread(most));
    mlir::Value sum = pass(Combine::kSum, [&](const Lanes& lanes) {
      Term shifted = second_look(lanes) - top;
      Term e = exponential(shifted);
      store_lanes(draft_, scratch_, scratch_at(lanes), lanes, is_log ? shifted.value : e.value);
      return e.value;
    });
    Term total = draft_.term(sum);
    mlir::Value last = is_log ? logarithm(total).value : (1.0 / total).value;
    Term by = draft_.term(spread(last));
    finish([&](const Lanes& lanes, ValueMap&) {
      Term e = draft_.term(load_lanes(draft_, scratch_, scratch_at(lanes), lanes));
      return (is_log ? e - by : e * by).value;
    });
  }

  Term logarithm(Term x) {
    if (x.element().isF32()) return log_f32(x);
    return draft_.term(draft_.builder().create<mlir::math::LogOp>(draft_.location(), x.value));
  }

  void normalise() {
    mlir::OpBuilder& builder = draft_.builder();
    auto norm = mlir::cast<graph::LayerNormOp>(op_);
    mlir::Value sum = pass(Combine::kSum, [&](const Lanes& lanes) { return first_look(lanes); });
    mlir::Value count_bits =
        builder.create<arith::IndexCastOp>(draft_.location(), builder.getI64Type(), length_);
    Term count = cast(draft_.term(count_bits), DType::kI64, scratch_type());
    Term mean = draft_.term(spread((draft_.term(sum) / count).value));
    mlir::Value squares = pass(Combine::kSum, [&](const Lanes& lanes) {
      Term distance = second_look(lanes) - mean;
      return (distance * distance).value;
    });
    Term variance = draft_.term(squares) / count + norm.getEpsilon().convertToDouble();
    mlir::Value deviation = builder.create<mlir::math::SqrtOp>(draft_.location(), variance.value);
    Term by = draft_.term(spread((1.0 / draft_.term(deviation)).value));
    finish([&](const Lanes& lanes, ValueMap& known) {
      Term x = second_look(lanes);
      Term scale = draft_.term(evaluator_->evaluate(norm.getScale(), row_, lanes, known));
      Term y = (x - mean) * by * scale;
      if (norm.getBias())
        y = y + draft_.term(evaluator_->evaluate(norm.getBias(), row_, lanes, known));
      return y.value;
    });
  }

  const FusedBody& body_;
  mlir::Operation* op_;
  KernelDraft draft_;
  mlir::Value x_;
  graph::TensorType type_;
  Evaluator* evaluator_ = nullptr;
  llvm::SmallVector<Buffer> results_;
  Buffer scratch_;
  Param scratch_stride_;
  mlir::Type element_;
  mlir::Value length_, row_first_, worker_first_;
  Evaluator::Row row_;
  int lanes_ = 1;
};

}  // namespace

llvm::LogicalResult lower_rows(const FusedBody& body, mlir::Operation* row_op,
                               LoweringContext& context) {
  DType dtype = tensor_type(row_op->getOperand(0)).getDtype();
  if (!is_float(dtype)) return body.op->emitError("needs a floating-point type");
  for (mlir::Value result : body.results)
    if (tensor_type(result).getShape() != tensor_type(row_op->getResult(0)).getShape())
      return body.op->emitError("results of one row group have different shapes");
  return RowKernel(body, row_op, context).lower();
}

}  // namespace scopevm::compiler::kernels
