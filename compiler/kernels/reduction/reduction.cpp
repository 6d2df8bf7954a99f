// Reductions, with elementwise ops before them. If the innermost dim is reduced, a work item is one
// result. Vectors along the innermost dim are combined into several accumulators, which are
// combined at the end. If the innermost dim is kept, a work item is a strip of results, and each
// lane computes one result.
#include "compiler/kernels/reduction/reduction.h"
#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/elementwise/evaluate.h"
#include "compiler/kernels/elementwise/integer_math.h"
#include "compiler/kernels/reduction/combine.h"

namespace scopevm::compiler::kernels {
namespace {

// Tags of the dims of the space. A kept dim and a reduced dim have different tags, so they are
// never merged.
constexpr int kKept = 0;
constexpr int kReduced = 1;
// Results per item if the innermost dim is kept: four AVX-512 registers of f32. The number is
// fixed, because work items must not depend on the target.
constexpr int64_t kStrip = 64;
// Independent accumulators, which hide the latency of an add. An add takes 4 cycles, and two adds
// can start per cycle.
constexpr int64_t kAccumulators = 4;

// The element type of the accumulators. The sum of a mean of narrow integers has 64 bits, because
// the mean fits in the element type although the sum may not.
DType accumulator_type(graph::ReductionOp op) {
  DType dtype = graph::type_of(op->getOperand(0)).getDtype();
  if (!op.isMean() || is_float(dtype)) return dtype;
  return is_unsigned(dtype) ? DType::kU64 : DType::kI64;
}

class Reduction {
 public:
  Reduction(const FusedBody& body, graph::ReductionOp op, LoweringContext& context)
      : body_(body),
        op_(op),
        k_(context, body.op, "reduce"),
        x_(op->getOperand(0)),
        type_(graph::type_of(x_)),
        how_(op.getCombine()),
        is_unsigned_(is_unsigned(type_.getDtype())),
        accumulator_(accumulator_type(op)),
        evaluator_(k_, body, type_.getShape(), tags_of(op)),
        lanes_(lane_count(body, k_.target())),
        element_(arithmetic_type(op->getContext(), accumulator_)) {}

  llvm::LogicalResult lower() {
    DimExpr reduced = 1, results = 1;
    const Space& space = evaluator_.space();
    for (size_t dim = 0; dim < space.dims.size(); ++dim) {
      bool is_reduced = space.tags[dim] == kReduced;
      (is_reduced ? reduced : results) = (is_reduced ? reduced : results) * space.dims[dim];
      // Vectors cover the last dim, so only the other dims have scalar loops.
      if (dim + 1 < space.dims.size()) (is_reduced ? reduced_ : kept_).push_back(dim);
    }
    if (op_.isMean()) count_ = k_.param(reduced);
    result_ = k_.result(body_.op->getResult(0), Elements::kNumbers);
    if (space.tags.back() == kReduced) {
      reduce_lanes();
      return k_.launch(results, grain_of_operations(reduced, cost_of(body_)));
    }
    DimExpr strips = ceildiv(space.dims.back(), kStrip), grid = strips;
    reduce_strips(k_.param(strips));
    for (size_t dim : kept_) grid = grid * space.dims[dim];
    return k_.launch(grid, grain_of_operations(reduced * DimExpr(kStrip), cost_of(body_)));
  }

 private:
  static llvm::SmallVector<int> tags_of(graph::ReductionOp op) {
    llvm::SmallVector<int> tags(graph::type_of(op->getOperand(0)).getRank(), kKept);
    for (int64_t axis : op.getAxes()) tags[axis] = kReduced;
    return tags;
  }

  Terms sizes_of(llvm::ArrayRef<size_t> dims) {
    Terms sizes;
    for (size_t dim : dims) sizes.push_back(evaluator_.size(dim));
    return sizes;
  }

  Term inner_size() { return evaluator_.size(evaluator_.space().dims.size() - 1); }

  using Body = llvm::function_ref<Terms(llvm::ArrayRef<Term> carried)>;

  // Emits a loop nest over `dims` and sets `index` on these dims.
  Terms nest(llvm::ArrayRef<size_t> dims, Terms& index, llvm::ArrayRef<Term> carried, Body body) {
    if (dims.empty()) return body(carried);
    return k_.loop(k_.index(0), evaluator_.size(dims.front()), 1, carried,
                   [&](Term at, auto inside) {
                     index[dims.front()] = at;
                     return nest(dims.drop_front(), index, inside, body);
                   });
  }

  // Emits a loop over `dim`. It combines kPart elements at a time, and each of these results with
  // `total`: a sum of many elements, one after the other, has large rounding errors.
  Terms in_parts(size_t dim, Terms& index, Term total, Body body) {
    constexpr int64_t kPart = 128;
    const Term size = evaluator_.size(dim);
    return k_.loop(k_.index(0), size, kPart, {total}, [&](Term first, auto totals) {
      const Terms part =
          k_.loop(first, min(first + kPart, size), 1, {neutral()}, [&](Term at, auto inside) {
            index[dim] = at;
            return body(inside);
          });
      return Terms{combine(how_, totals[0], part[0], is_unsigned_)};
    });
  }

  Terms index_of(llvm::ArrayRef<Term> kept) {
    Terms index(evaluator_.space().dims.size() - 1);
    for (size_t i = 0; i < kept_.size(); ++i) index[kept_[i]] = kept[i];
    return index;
  }

  Term neutral() { return neutral_value(k_, how_, k_.vector(element_, lanes_), is_unsigned_); }

  Term accumulate(Term sum, const Evaluator::Row& row, const Lanes& lanes) {
    TermMap known;
    Term x = evaluator_.evaluate(x_, row, lanes, known);
    return combine(how_, sum, cast(x, type_.getDtype(), accumulator_), is_unsigned_);
  }

  Term finish(Term sum) {
    if (!count_) return sum;
    Term count = convert(count_, k_.builder().getI64Type());
    // The count is not rounded to a narrow float type, in which a large count is infinite.
    Term divisor = sum.is_float() ? convert(count, element_) : count;
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(sum.type()))
      divisor = k_.splat(divisor, vector.getNumElements());
    if (sum.is_float()) return sum / divisor;
    return cast(integer_quotient(sum, divisor, is_unsigned_), accumulator_, type_.getDtype());
  }

  // Combines one row of the innermost dim into the accumulators.
  Terms reduce_row(const Evaluator::Row& row, llvm::ArrayRef<Term> carried) {
    Term length = inner_size();
    auto whole = [&](int64_t step) { return length - remainder(length, k_.index(step)); };
    int64_t wide = lanes_ * kAccumulators;
    Term wide_end = whole(wide), vector_end = whole(lanes_);
    Terms sums = k_.loop(k_.index(0), wide_end, wide, carried, [&](Term offset, auto now) {
      Terms next;
      for (int64_t i = 0; i < kAccumulators; ++i)
        next.push_back(accumulate(now[i], row, {lanes_, offset + i * lanes_, {}}));
      return next;
    });
    sums[0] = k_.loop(wide_end, vector_end, lanes_, {sums[0]}, [&](Term offset, auto now) {
      return Terms{accumulate(now[0], row, {lanes_, offset, {}})};
    })[0];
    // This loop has at most one iteration, for the elements after the last full vector.
    sums[0] = k_.loop(vector_end, length, lanes_, {sums[0]}, [&](Term offset, auto now) {
      Term mask = k_.mask(length - offset, lanes_);
      // Disabled lanes were loaded as 0, which is not neutral for all operators. These lanes keep
      // their accumulated value.
      return Terms{select(mask, accumulate(now[0], row, {lanes_, offset, mask}), now[0])};
    })[0];
    return sums;
  }

  void reduce_lanes() {
    k_.for_items(sizes_of(kept_), [&](Term item, llvm::ArrayRef<Term> kept) {
      Terms index = index_of(kept), first(kAccumulators, neutral());
      Terms sums = nest(reduced_, index, first, [&](llvm::ArrayRef<Term> carried) {
        return reduce_row(evaluator_.at(index), carried);
      });
      Term total = sums[0];
      for (int64_t i = 1; i < kAccumulators; ++i)
        // The order of operations depends on the numbers of lanes and accumulators, but not on the
        // threads, so results are reproducible on a target.
        total = combine(how_, total, sums[i], is_unsigned_);
      k_.store_number(result_, item, finish(across_lanes(k_, how_, total, is_unsigned_)));
    });
  }

  void reduce_strips(Term strips) {
    Terms sizes = sizes_of(kept_);
    sizes.push_back(strips);
    Term inner = inner_size();
    k_.for_items(sizes, [&](Term item, llvm::ArrayRef<Term> item_index) {
      Terms index = index_of(item_index.drop_back());
      // The linear index of the item on the kept dims before the last dim.
      Term row = item_index.size() == 1 ? k_.index(0) : quotient(item - item_index.back(), strips);
      Term strip = item_index.back() * kStrip;
      Term left = min(inner - strip, k_.index(kStrip));
      k_.for_lanes(left, lanes_, Tail::kMasked, [&](const Lanes& lanes) {
        Lanes shifted = lanes;
        shifted.offset = lanes.offset + strip;
        const auto add = [&](llvm::ArrayRef<Term> carried) {
          return Terms{accumulate(carried[0], evaluator_.at(index), shifted)};
        };
        const llvm::ArrayRef<size_t> outer(reduced_);
        Terms sum = outer.empty() ? add({neutral()})
                                  : nest(outer.drop_back(), index, {neutral()},
                                         [&](llvm::ArrayRef<Term> carried) {
                                           return in_parts(outer.back(), index, carried[0], add);
                                         });
        k_.store_number(result_, row * inner + shifted.offset, finish(sum[0]), shifted.mask);
      });
    });
  }

  const FusedBody& body_;
  graph::ReductionOp op_;
  KernelBuilder k_;
  mlir::Value x_;
  graph::TensorType type_;
  Combine how_;
  bool is_unsigned_;
  DType accumulator_;
  Evaluator evaluator_;
  int64_t lanes_;
  mlir::Type element_;
  llvm::SmallVector<size_t> kept_, reduced_;  // dims except the last
  Term count_;                                // the divisor of a mean
  Buffer result_;
};

}  // namespace

llvm::LogicalResult lower_reduction(const FusedBody& body, mlir::Operation* reduction,
                                    LoweringContext& context) {
  if (body.results.size() != 1 || body.results[0] != reduction->getResult(0))
    return body.op->emitError(
        "expected the reduction to be the last op and only result of its group");
  return Reduction(body, mlir::cast<graph::ReductionOp>(reduction), context).lower();
}

}  // namespace scopevm::compiler::kernels
