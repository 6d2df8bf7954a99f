// softmax, log_softmax and layer_norm along the innermost dims, with elementwise ops before and
// after. A work item is a row: the elements that are normalised together. Only the first pass over
// a row reads it from memory; later passes read it from the cache.
#include <algorithm>

#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/elementwise/evaluate.h"
#include "compiler/kernels/elementwise/vector_math.h"
#include "compiler/kernels/reduction/combine.h"
#include "compiler/kernels/reduction/reduction.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace scopevm::compiler::kernels {
namespace {

Term exponential(Term x) { return x.element().isF32() ? exp_f32(x) : x.make<mlir::math::ExpOp>(x); }
Term logarithm(Term x) { return x.element().isF32() ? log_f32(x) : x.make<mlir::math::LogOp>(x); }

class RowKernel {
 public:
  RowKernel(const FusedBody& body, mlir::Operation* op, LoweringContext& context)
      : body_(body),
        op_(op),
        k_(context, body.op, mlir::isa<graph::LayerNormOp>(op) ? "norm" : "softmax"),
        x_(op->getOperand(0)),
        type_(graph::type_of(x_)),
        evaluator_(k_, body, type_.getShape(), tags_of(op), 1),
        lanes_(lane_count(body, k_.target())),
        element_(arithmetic_type(op->getContext(), type_.getDtype())) {}

  llvm::LogicalResult lower() {
    const Space& space = evaluator_.space();
    size_t inner = space.dims.size() - 1;
    // The normalised dims must merge into one dim, because passes over a row loop over one dim.
    if (llvm::count(space.tags, 1) != 1)
      return body_.op->emitError(
          "scale and bias of layer_norm must not broadcast along normalised dims");
    for (mlir::Value result : body_.op->getResults())
      results_.push_back(k_.result(result, Elements::kNumbers));
    // With several results, the store of one could overwrite an operand of another.
    if (results_.size() == 1) evaluator_.allow_in_place(results_[0], op_);
    choose_scratch(space.dims[inner]);
    length_ = evaluator_.size(inner);
    Terms sizes = evaluator_.sizes(0, inner);
    if (sizes.empty()) sizes.push_back(k_.index(1));
    k_.for_items(sizes, [&](Term item, llvm::ArrayRef<Term> index) {
      row_first_ = item * length_;
      row_ = evaluator_.at(index.take_front(inner), row_first_);
      mlir::isa<graph::LayerNormOp>(op_) ? normalise() : softmax();
    });
    DimExpr rows = 1;
    for (size_t dim = 0; dim < inner; ++dim) rows = rows * space.dims[dim];
    return k_.launch(rows, grain_of_operations(space.dims[inner], 10 + cost_of(body_)));
  }

 private:
  static llvm::SmallVector<int> tags_of(mlir::Operation* op) {
    llvm::SmallVector<int> tags(graph::type_of(op->getOperand(0)).getRank(), 0);
    std::fill(tags.begin() + op->getAttrOfType<mlir::IntegerAttr>("axis").getInt(), tags.end(), 1);
    return tags;
  }

  // Selects the storage of a row between passes. It is a result that is written in the last pass
  // and has the arithmetic type. If there is none, it is scratch memory of the worker.
  void choose_scratch(DimExpr length) {
    for (size_t i = 0; i < results_.size(); ++i) {
      mlir::Value value = body_.results[i];
      // A result that is computed before the row op is complete after the first pass. It must not
      // be overwritten.
      bool is_late = value == op_->getResult(0) || !is_before(value);
      if (is_late && results_[i].dtype == scratch_type()) scratch_.buffer = results_[i];
    }
    if (!scratch_.buffer.memref) scratch_ = k_.scratch(length, scratch_type());
  }

  DType scratch_type() const { return type_.getDtype() == DType::kF64 ? DType::kF64 : DType::kF32; }

  // True if the value is computed before the row op, by order in the block.
  bool is_before(mlir::Value value) const {
    mlir::Operation* op = value.getDefiningOp();
    return !op || op->isBeforeInBlock(op_);
  }

  Term scratch_at(const Lanes& lanes) {
    return (scratch_.start ? scratch_.start : row_first_) + lanes.offset;
  }
  Term load_scratch(const Lanes& lanes) {
    return k_.load_number(scratch_.buffer, scratch_at(lanes), lanes.count, lanes.mask);
  }
  void store_scratch(const Lanes& lanes, Term value) {
    k_.store_number(scratch_.buffer, scratch_at(lanes), value, lanes.mask);
  }

  void store_result(size_t i, const Lanes& lanes, Term value) {
    k_.store_number(results_[i], row_first_ + lanes.offset, value, lanes.mask);
  }

  // Emits a pass over the row that combines value(lanes) into a scalar. Lanes outside the row are
  // ignored.
  Term pass(Combine how, llvm::function_ref<Term(const Lanes&)> value) {
    Term rest = remainder(length_, k_.index(lanes_)), whole = length_ - rest;
    auto step = [&](Term sum, const Lanes& lanes) {
      Term x = masked(k_, how, lanes, value(lanes), false);
      // A comparison and a select are cheaper than a maximum that propagates NaN. This maximum can
      // ignore a NaN, but the exponential of that element is NaN, and so is the result.
      if (how == Combine::kMax) return select(sum < x, x, sum);
      return combine(how, sum, x, false);
    };
    Term first = neutral_value(k_, how, k_.vector(element_, lanes_), false);
    Terms sums = k_.loop(k_.index(0), whole, lanes_, {first}, [&](Term offset, auto now) {
      return Terms{step(now[0], {lanes_, offset, {}})};
    });
    sums = k_.loop(whole, length_, lanes_, sums, [&](Term offset, auto now) {
      return Terms{step(now[0], {lanes_, offset, k_.mask(rest, lanes_)})};
    });
    return across_lanes(k_, how, sums[0], false);
  }

  Term spread(Term scalar) { return k_.splat(scalar, lanes_); }

  // The operand of the row op, in the first pass over the row. Stores the results that are computed
  // before the row op, and stores the operand in scratch if ops of the body compute it.
  Term first_pass_value(const Lanes& lanes) {
    TermMap known;
    Term x = evaluator_.evaluate(x_, row_, lanes, known);
    for (size_t i = 0; i < results_.size(); ++i)
      if (is_before(body_.results[i]))
        store_result(i, lanes, evaluator_.evaluate(body_.results[i], row_, lanes, known));
    // An operand that no op computes is loaded again by later_pass_value().
    if (body_.computes(x_)) store_scratch(lanes, x);
    return x;
  }

  // The operand of the row op, in a later pass over the row.
  Term later_pass_value(const Lanes& lanes) {
    if (body_.computes(x_)) return load_scratch(lanes);
    TermMap known;
    return evaluator_.evaluate(x_, row_, lanes, known);
  }

  // Emits the last pass: `result` returns the result of the row op, from which the results of the
  // body are computed and stored.
  void finish(llvm::function_ref<Term(const Lanes&, TermMap&)> result) {
    const auto emit = [&](const Lanes& lanes) {
      TermMap known;
      known[op_->getResult(0)] = result(lanes, known);
      for (size_t i = 0; i < results_.size(); ++i)
        if (!is_before(body_.results[i]))
          store_result(i, lanes, evaluator_.evaluate(body_.results[i], row_, lanes, known));
    };
    const Term rest = remainder(length_, k_.index(lanes_)), whole = length_ - rest;
    k_.loop(k_.index(0), whole, lanes_, [&](Term offset) { emit({lanes_, offset, {}}); });
    k_.when(rest != 0, [&] { emit({lanes_, whole, k_.mask(rest, lanes_)}); });
  }

  void softmax() {
    bool is_log = mlir::isa<graph::LogSoftmaxOp>(op_);
    Term top =
        spread(pass(Combine::kMax, [&](const Lanes& lanes) { return first_pass_value(lanes); }));
    Term sum = pass(Combine::kSum, [&](const Lanes& lanes) {
      Term shifted = later_pass_value(lanes) - top, e = exponential(shifted);
      store_scratch(lanes, is_log ? shifted : e);
      return e;
    });
    // One division per row; its elements are multiplied by the reciprocal.
    Term by = spread(is_log ? logarithm(sum) : 1.0 / sum);
    finish([&](const Lanes& lanes, TermMap&) {
      Term e = load_scratch(lanes);
      return is_log ? e - by : e * by;
    });
  }

  void normalise() {
    auto norm = mlir::cast<graph::LayerNormOp>(op_);
    Term sum = pass(Combine::kSum, [&](const Lanes& lanes) { return first_pass_value(lanes); });
    Term count = cast(convert(length_, k_.builder().getI64Type()), DType::kI64, scratch_type());
    Term mean = spread(sum / count);
    // The variance has its own pass. The one-pass formula E[x^2] - E[x]^2 loses all digits if the
    // mean is large compared with the deviation.
    Term squares = pass(Combine::kSum, [&](const Lanes& lanes) {
      Term distance = later_pass_value(lanes) - mean;
      return distance * distance;
    });
    Term variance = squares / count + norm.getEpsilon().convertToDouble();
    Term by = spread(1.0 / variance.make<mlir::math::SqrtOp>(variance));
    finish([&](const Lanes& lanes, TermMap& known) {
      Term x = later_pass_value(lanes);
      Term scale = evaluator_.evaluate(norm.getScale(), row_, lanes, known);
      Term y = (x - mean) * by * scale;
      if (norm.getBias()) y = y + evaluator_.evaluate(norm.getBias(), row_, lanes, known);
      return y;
    });
  }

  const FusedBody& body_;
  mlir::Operation* op_;
  KernelBuilder k_;
  mlir::Value x_;
  graph::TensorType type_;
  Evaluator evaluator_;
  int64_t lanes_;
  mlir::Type element_;
  llvm::SmallVector<Buffer> results_;
  Scratch scratch_;  // the start is null if the buffer is that of a result
  Term length_, row_first_;
  Evaluator::Row row_;
};

}  // namespace

llvm::LogicalResult lower_rows(const FusedBody& body, mlir::Operation* row_op,
                               LoweringContext& context) {
  for (mlir::Value result : body.results)
    if (graph::type_of(result).getShape() != graph::type_of(row_op->getResult(0)).getShape())
      return body.op->emitError("results of one row group have different shapes");
  return RowKernel(body, row_op, context).lower();
}

}  // namespace scopevm::compiler::kernels
