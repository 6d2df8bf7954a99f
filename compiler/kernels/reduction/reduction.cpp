// Reductions, with elementwise ops before them. Work items are results. Where the innermost dim is
// reduced, its lanes go to several accumulators and are combined at the end; where it is kept,
// each lane is a result of its own and an item is a strip of results.
#include <algorithm>

#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/elementwise/evaluate.h"
#include "compiler/kernels/elementwise/integer_math.h"
#include "compiler/kernels/reduction/combine.h"
#include "compiler/kernels/reduction/reduction.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

namespace arith = mlir::arith;
using Values = llvm::SmallVector<mlir::Value>;

constexpr int kKept = 0;
constexpr int kReduced = 1;
// Results per item where the innermost dim is kept. A number of its own, as items must not depend
// on the target: four registers of 16 floats.
constexpr int64_t kStrip = 64;
// Accumulators in flight: an add takes 4 cycles, and two start in each.
constexpr int kAccumulators = 4;

Combine combine_of(mlir::Operation* op) {
  if (mlir::isa<graph::ReduceProdOp>(op)) return Combine::kProduct;
  if (mlir::isa<graph::ReduceMaxOp>(op)) return Combine::kMax;
  if (mlir::isa<graph::ReduceMinOp>(op)) return Combine::kMin;
  return Combine::kSum;
}

class Reduction {
 public:
  Reduction(const FusedBody& body, mlir::Operation* op, LoweringContext& context)
      : body_(body),
        op_(op),
        draft_(context, body.op),
        x_(op->getOperand(0)),
        type_(tensor_type(x_)),
        how_(combine_of(op)),
        is_unsigned_(is_unsigned(type_.getDtype())) {}

  void lower() {
    llvm::SmallVector<int> tags(type_.getRank(), kKept);
    for (int64_t axis : op_->getAttrOfType<mlir::DenseI64ArrayAttr>("axes").asArrayRef())
      tags[axis] = kReduced;
    Evaluator evaluator(draft_, body_, type_.getShape(), tags);
    evaluator_ = &evaluator;
    DimExpr reduced = 1, results = 1;
    const Space& space = evaluator.space();
    for (size_t dim = 0; dim < space.dims.size(); ++dim) {
      (space.tags[dim] == kReduced ? reduced : results) =
          (space.tags[dim] == kReduced ? reduced : results) * space.dims[dim];
      if (dim + 1 < space.dims.size())
        (space.tags[dim] == kReduced ? reduced_ : kept_).push_back(dim);
    }
    if (mlir::isa<graph::ReduceMeanOp>(op_)) count_ = draft_.param(reduced);
    result_ = draft_.result(body_.op->getResult(0));
    lanes_ = lane_count(body_, draft_.context().kernels().target());
    bool inner_is_reduced = space.tags.back() == kReduced;
    DimExpr inner = space.dims.back();
    if (!inner_is_reduced) strips_ = draft_.param(ceildiv(inner, kStrip));
    draft_.open();
    element_ = arithmetic_type(draft_.builder().getContext(), type_.getDtype());
    inner_is_reduced ? reduce_lanes() : reduce_strips();
    DimExpr grid = results;
    DimExpr length = reduced;
    if (!inner_is_reduced) {
      grid = ceildiv(inner, kStrip);
      for (size_t dim : kept_) grid = grid * space.dims[dim];
      length = reduced * DimExpr(kStrip);
    }
    draft_.launch("reduce", grid, grain_of(length, cost_of(body_)));
  }

 private:
  Values sizes_of(llvm::ArrayRef<size_t> dims) {
    Values sizes;
    for (size_t dim : dims) sizes.push_back(evaluator_->size(dim));
    return sizes;
  }

  // Loops over the reduced dims but the last of the space, from `depth` on.
  Values nest(size_t depth, Values& index, mlir::ValueRange carried,
              llvm::function_ref<Values(mlir::ValueRange)> body) {
    if (depth == reduced_.size()) return body(carried);
    size_t dim = reduced_[depth];
    return for_range(draft_, draft_.index(0).value, evaluator_->size(dim), 1, carried,
                     [&](mlir::Value at, mlir::ValueRange inside) {
                       index[dim] = at;
                       return nest(depth + 1, index, inside, body);
                     });
  }

  Values index_of(llvm::ArrayRef<mlir::Value> kept) {
    Values index(evaluator_->space().dims.size() - 1);
    for (size_t i = 0; i < kept_.size(); ++i) index[kept_[i]] = kept[i];
    return index;
  }

  mlir::Value accumulate(mlir::Value sum, const Evaluator::Row& row, const Lanes& lanes) {
    ValueMap known;
    mlir::Value x = evaluator_->evaluate(x_, row, lanes, known);
    return combine(how_, draft_.term(sum), draft_.term(x), is_unsigned_).value;
  }

  mlir::Value finish(mlir::Value sum) {
    if (count_.index < 0) return sum;
    mlir::OpBuilder& builder = draft_.builder();
    Term total = draft_.term(sum);
    mlir::Value count = builder.create<arith::IndexCastOp>(draft_.location(), builder.getI64Type(),
                                                           draft_.param(count_));
    Term divisor = cast(draft_.term(count), DType::kI64, type_.getDtype());
    mlir::Type element = mlir::getElementTypeOrSelf(sum);
    if (divisor.type() != element) return sum;
    mlir::Value spread = divisor.value;
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(sum.getType()))
      spread = builder.create<mlir::vector::BroadcastOp>(draft_.location(), vector, spread);
    if (total.is_float()) return (total / draft_.term(spread)).value;
    return integer_quotient(total, draft_.term(spread), is_unsigned_).value;
  }

  // One row of the innermost dim into the accumulators.
  Values reduce_row(const Evaluator::Row& row, mlir::ValueRange carried) {
    mlir::OpBuilder& builder = draft_.builder();
    mlir::Location location = draft_.location();
    mlir::Value length = evaluator_->size(evaluator_->space().dims.size() - 1);
    auto whole = [&](int64_t step) {
      mlir::Value rest = builder.create<arith::RemUIOp>(location, length, draft_.index(step).value);
      return (draft_.term(length) - draft_.term(rest)).value;
    };
    int64_t wide = int64_t{lanes_} * kAccumulators;
    mlir::Value wide_end = whole(wide), vector_end = whole(lanes_);
    Values sums = for_range(draft_, draft_.index(0).value, wide_end, wide, carried,
                            [&](mlir::Value offset, mlir::ValueRange inside) {
                              Values next;
                              for (int i = 0; i < kAccumulators; ++i) {
                                mlir::Value at =
                                    (draft_.term(offset) + draft_.index(int64_t{i} * lanes_)).value;
                                next.push_back(accumulate(inside[i], row, {lanes_, at, nullptr}));
                              }
                              return next;
                            });
    sums[0] = for_range(draft_, wide_end, vector_end, lanes_, {sums[0]},
                        [&](mlir::Value offset, mlir::ValueRange inside) {
                          return Values{accumulate(inside[0], row, {lanes_, offset, nullptr})};
                        })[0];
    // A loop of one turn at most.
    sums[0] = for_range(draft_, vector_end, length, lanes_, {sums[0]},
                        [&](mlir::Value offset, mlir::ValueRange inside) {
                          mlir::Value left = (draft_.term(length) - draft_.term(offset)).value;
                          mlir::Value mask = builder.create<mlir::vector::CreateMaskOp>(
                              location, lanes_type(builder.getI1Type(), lanes_), left);
                          Term sum = draft_.term(inside[0]);
                          mlir::Value all = accumulate(inside[0], row, {lanes_, offset, mask});
                          return Values{choose(draft_.term(mask), draft_.term(all), sum).value};
                        })[0];
    return sums;
  }

  void reduce_lanes() {
    for_items(draft_, sizes_of(kept_), [&](mlir::Value item, llvm::ArrayRef<mlir::Value> kept) {
      Values index = index_of(kept);
      Values first(kAccumulators,
                   neutral_value(draft_, how_, lanes_type(element_, lanes_), is_unsigned_));
      Values sums = nest(0, index, first, [&](mlir::ValueRange carried) {
        return reduce_row(evaluator_->at(index), carried);
      });
      Term total = draft_.term(sums[0]);
      for (int i = 1; i < kAccumulators; ++i)
        total = combine(how_, total, draft_.term(sums[i]), is_unsigned_);
      mlir::Value scalar = across_lanes(draft_, how_, total.value, is_unsigned_);
      store_scalar(draft_, result_, item, finish(scalar));
    });
  }

  void reduce_strips() {
    mlir::OpBuilder& builder = draft_.builder();
    mlir::Location location = draft_.location();
    Values sizes = sizes_of(kept_);
    sizes.push_back(draft_.param(strips_));
    Term inner = draft_.term(evaluator_->size(evaluator_->space().dims.size() - 1));
    // The product of the kept outer indices, in rows of results.
    for_items(draft_, sizes, [&](mlir::Value item, llvm::ArrayRef<mlir::Value> item_index) {
      Values index = index_of(item_index.drop_back());
      Term outer = (draft_.term(item) - draft_.term(item_index.back()));
      mlir::Value row = item_index.size() == 1
                            ? draft_.index(0).value
                            : builder.create<arith::DivUIOp>(location, outer.value, sizes.back());
      Term strip = draft_.term(item_index.back()) * draft_.index(kStrip);
      mlir::Value left = builder.create<arith::MinUIOp>(location, (inner - strip).value,
                                                        draft_.index(kStrip).value);
      for_lanes(draft_, left, lanes_, [&](const Lanes& lanes) {
        Lanes shifted = lanes;
        shifted.offset = (draft_.term(lanes.offset) + strip).value;
        mlir::Value first = neutral_value(draft_, how_, lanes_type(element_, lanes_), is_unsigned_);
        Values sum = nest(0, index, {first}, [&](mlir::ValueRange carried) {
          return Values{accumulate(carried[0], evaluator_->at(index), shifted)};
        });
        mlir::Value at = (draft_.term(row) * inner + draft_.term(shifted.offset)).value;
        store_lanes(draft_, result_, at, shifted, finish(sum[0]));
      });
    });
  }

  const FusedBody& body_;
  mlir::Operation* op_;
  KernelDraft draft_;
  mlir::Value x_;
  graph::TensorType type_;
  Combine how_;
  bool is_unsigned_;
  Evaluator* evaluator_ = nullptr;
  llvm::SmallVector<size_t> kept_, reduced_;  // dims but the last
  Param count_, strips_;
  Buffer result_;
  mlir::Type element_;
  int lanes_ = 1;
};

}  // namespace

llvm::LogicalResult lower_reduction(const FusedBody& body, mlir::Operation* reduction,
                                    LoweringContext& context) {
  if (body.results.size() != 1 || body.results[0] != reduction->getResult(0))
    return body.op->emitError("a reduction is the last op of its group, and its only result");
  Reduction(body, reduction, context).lower();
  return mlir::success();
}

}  // namespace scopevm::compiler::kernels
