// See ways.h. Most ways follow from the parallel axes of ops; the others from sums and other
// reductions, which ranks can compute in part, from selections, and from ops that change the
// segments of an axis.
#include "compiler/split/tensor/ways.h"

#include <set>

#include "compiler/graph/diagnostics/dim_trace.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/split/tensor/reshape_axes.h"
#include "compiler/split/tensor/selection.h"

namespace scopevm::compiler::split {
namespace {

using graph::Combine;
using graph::ParallelAxis;
using graph::TensorType;
using graph::type_of;

// Whether ops can read and make parts of the value.
bool has_parts(mlir::Value value) {
  const auto tensor = mlir::dyn_cast<TensorType>(value.getType());
  return tensor && tensor.getDtype() != DType::kStr && !is_small(tensor.getDtype());
}

// Whether several ranks can run the op. The VM runs some ops itself, others make the dims of a
// request, and the model can require a place.
bool can_run_on_all_ranks(mlir::Operation* op) {
  return op->getNumResults() > 0 && op->getNumOperands() > 0 && op->getNumRegions() == 0 &&
         mlir::isa<graph::ParallelAxesOp>(op) &&
         !mlir::isa<graph::HostOp, graph::OnDeviceOp, graph::DeviceCopyOp>(op) &&
         !graph::is_constrained(op) && graph::symbols_defined_by(op).empty() &&
         llvm::all_of(op->getOperands(), has_parts) && llvm::all_of(op->getResults(), has_parts);
}

// The operator of an elementwise op that combines its operands, as a reduction does.
std::optional<Combine> combine_of(mlir::Operation* op) {
  if (mlir::isa<graph::AddOp>(op)) return Combine::kSum;
  if (mlir::isa<graph::MulOp>(op)) return Combine::kProduct;
  if (mlir::isa<graph::MaxOp>(op)) return Combine::kMax;
  if (mlir::isa<graph::MinOp>(op)) return Combine::kMin;
  return std::nullopt;
}

class WaysOf {
 public:
  WaysOf(mlir::Operation* op, FormsOf forms_of, const Borders& borders, int ranks)
      : op_(op), forms_of_(forms_of), borders_(borders), ranks_(ranks) {}

  std::vector<Way> all() {
    add(Form::whole());
    if (!can_run_on_all_ranks(op_)) return std::move(ways_);
    add(Form::replicated());
    for (const ParallelAxis& axes : mlir::cast<graph::ParallelAxesOp>(op_).getParallelAxes())
      add_parallel(axes);
    if (auto product = mlir::dyn_cast<graph::MatMulOp>(op_)) add_sum_of_products(product);
    if (auto reduction = mlir::dyn_cast<graph::ReductionOp>(op_)) add_reduction(reduction);
    if (const auto combine = combine_of(op_)) add_partial(*combine);
    if (const auto selection = selection_of(op_)) add_selection(*selection);
    if (auto slice = mlir::dyn_cast<graph::SliceOp>(op_)) add_slice(slice);
    if (auto concat = mlir::dyn_cast<graph::ConcatOp>(op_)) add_concat(concat);
    if (auto reshape = mlir::dyn_cast<graph::ReshapeOp>(op_)) add_reshape(reshape);
    return std::move(ways_);
  }

 private:
  void add(const Form& form) {
    Way way;
    way.operands.assign(op_->getNumOperands(), form);
    way.results.assign(op_->getNumResults(), form);
    ways_.push_back(std::move(way));
  }

  // The size of a static axis with at least one element for each rank.
  std::optional<int64_t> size_of(mlir::Value value, int64_t axis) const {
    const std::optional<int64_t> size = type_of(value).getDim(axis).as_constant();
    return size && *size >= ranks_ ? size : std::nullopt;
  }

  // The segments in which `operand` has its axis already.
  void find_segments(mlir::Value operand, int64_t axis, std::set<Form::Segments>& found) const {
    for (const Form& form : forms_of_(operand))
      if (form.is(Form::Kind::kDivided) && form.axis == axis) found.insert(form.segments);
  }

  // An attribute with the dims of the result would have to be changed with it; see divide_dims().
  bool has_dim_in_attribute(int64_t axis, int64_t size) const {
    if (mlir::isa<graph::ReshapeOp, graph::ExpandOp, graph::SliceOp>(op_)) return false;
    const int64_t rank = type_of(op_->getResult(0)).getRank();
    return llvm::any_of(op_->getAttrs(), [&](const mlir::NamedAttribute& attribute) {
      const auto dims = mlir::dyn_cast<graph::DimsAttr>(attribute.getValue());
      return dims && static_cast<int64_t>(dims.getValue().size()) == rank &&
             dims.getValue()[axis].is_constant(size);
    });
  }

  void add_parallel(const ParallelAxis& axes) {
    const mlir::Value result = op_->getResult(0);
    const std::optional<int64_t> size = size_of(result, axes.results.front());
    if (!size || has_dim_in_attribute(axes.results.front(), *size)) return;
    std::set<Form::Segments> choices;
    const auto has_size = [&](mlir::Value value, int64_t axis) {
      return axis == ParallelAxis::kWhole || type_of(value).getDim(axis).is_constant(*size);
    };
    if (!llvm::all_of_zip(op_->getOperands(), axes.operands, has_size) ||
        !llvm::all_of_zip(op_->getResults(), axes.results, has_size))
      return;
    for (const auto [operand, axis] : llvm::zip_equal(op_->getOperands(), axes.operands))
      if (axis != ParallelAxis::kWhole) find_segments(operand, axis, choices);
    for (Form::Segments& segments : borders_.segments(result, axes.results.front(), *size))
      choices.insert(std::move(segments));
    const auto form = [](int64_t axis, const Form::Segments& segments) {
      return axis == ParallelAxis::kWhole ? Form::replicated() : Form::divided(axis, segments);
    };
    for (const Form::Segments& segments : choices) {
      if (llvm::any_of(segments, [&](int64_t segment) { return segment < ranks_; })) continue;
      Way way;
      for (const int64_t axis : axes.operands) way.operands.push_back(form(axis, segments));
      for (const int64_t axis : axes.results) way.results.push_back(form(axis, segments));
      ways_.push_back(std::move(way));
    }
  }

  // Each rank adds the products of its part of the inner dim.
  void add_sum_of_products(graph::MatMulOp product) {
    const int64_t a_rank = type_of(product.getA()).getRank(),
                  b_rank = type_of(product.getB()).getRank();
    const int64_t in_a = a_rank - (product.getTransposeA() && a_rank > 1 ? 2 : 1);
    const int64_t in_b = b_rank == 1 ? 0 : b_rank - (product.getTransposeB() ? 1 : 2);
    const std::optional<int64_t> size = size_of(product.getA(), in_a);
    if (!size || !type_of(product.getB()).getDim(in_b).is_constant(*size)) return;
    std::set<Form::Segments> choices = {{*size}};
    find_segments(product.getA(), in_a, choices);
    find_segments(product.getB(), in_b, choices);
    for (const Form::Segments& segments : choices)
      ways_.push_back({{Form::divided(in_a, segments), Form::divided(in_b, segments)},
                       {Form::partial(Combine::kSum)}});
  }

  // Each rank combines its part of a reduced axis.
  void add_reduction(graph::ReductionOp reduction) {
    if (reduction.isMean()) return;
    const mlir::Value x = op_->getOperand(0);
    for (const int64_t axis : reduction.getAxes()) {
      std::set<Form::Segments> choices;
      find_segments(x, axis, choices);
      for (const Form::Segments& segments : choices)
        ways_.push_back({{Form::divided(axis, segments)}, {Form::partial(reduction.getCombine())}});
    }
  }

  // The op combines partial values of the same operator: each rank combines its own ones.
  void add_partial(Combine combine) {
    const TensorType result = type_of(op_->getResult(0));
    const bool are_partial = llvm::all_of(op_->getOperands(), [&](mlir::Value operand) {
      return type_of(operand).getShape() == result.getShape() &&
             llvm::is_contained(forms_of_(operand), Form::partial(combine));
    });
    if (are_partial) add(Form::partial(combine));
  }

  // A part has at least as many elements as are selected. It is one segment, so that the parts are
  // in the order of the axis.
  void add_selection(const Selection& selection) {
    const std::optional<int64_t> size = size_of(op_->getOperand(0), selection.axis);
    if (!size || *size / ranks_ < selection.count) return;
    for (const Form& form : {Form::whole(), Form::replicated()}) {
      add(form);
      ways_.back().operands = {Form::divided(selection.axis, {*size})};
      ways_.back().is_merged = true;
    }
  }

  // The slice has whole segments of the axis.
  void add_slice(graph::SliceOp slice) {
    for (const Form& form : forms_of_(slice.getX())) {
      if (!form.is(Form::Kind::kDivided) || form.segments.size() == 1 ||
          slice.getSteps()[form.axis] != 1)
        continue;
      const std::optional<int64_t> start = slice.getStarts().getValue()[form.axis].as_constant(),
                                   size = slice.getSizes().getValue()[form.axis].as_constant();
      if (!start || !size) continue;
      Form::Segments inside;
      int64_t at = 0;
      for (const int64_t segment : form.segments) {
        if (at >= *start && at + segment <= *start + *size) inside.push_back(segment);
        at += segment;
      }
      Form result = Form::divided(form.axis, std::move(inside));
      if (!result.segments.empty() && result.size() == *size)
        ways_.push_back({{form}, {std::move(result)}});
    }
  }

  // The segments of the result are those of all operands.
  void add_concat(graph::ConcatOp concat) {
    const auto axis = static_cast<int64_t>(concat.getAxis());
    Way way;
    Form::Segments all;
    for (const mlir::Value input : concat.getInputs()) {
      const std::optional<int64_t> size = size_of(input, axis);
      if (!size) return;
      std::set<Form::Segments> choices;
      find_segments(input, axis, choices);
      const Form::Segments segments = choices.empty() ? Form::Segments{*size} : *choices.begin();
      way.operands.push_back(Form::divided(axis, segments));
      all.append(segments.begin(), segments.end());
    }
    way.results.push_back(Form::divided(axis, std::move(all)));
    ways_.push_back(std::move(way));
  }

  void add_reshape(graph::ReshapeOp reshape) {
    const auto form = [](mlir::Value value, int64_t axis, int64_t segments) {
      const int64_t size = *type_of(value).getDim(axis).as_constant();
      return Form::divided(axis, Form::Segments(static_cast<size_t>(segments), size / segments));
    };
    for (const ReshapedAxis& pair : reshaped_axes(reshape, ranks_)) {
      if (size_of(reshape.getX(), pair.from) && size_of(reshape.getResult(), pair.to))
        ways_.push_back({{form(reshape.getX(), pair.from, pair.from_segments)},
                         {form(reshape.getResult(), pair.to, pair.to_segments)}});
      if (pair.from_segments == 1 && pair.to_segments == 1) add_reshape_of_segments(reshape, pair);
    }
  }

  // Unequal segments of an axis that has the same parts after the reshape.
  void add_reshape_of_segments(graph::ReshapeOp reshape, const ReshapedAxis& pair) {
    const int64_t from = *type_of(reshape.getX()).getDim(pair.from).as_constant(),
                  to = *type_of(reshape.getResult()).getDim(pair.to).as_constant();
    std::set<Form::Segments> choices;
    find_segments(reshape.getX(), pair.from, choices);
    for (const Form::Segments& segments : choices) {
      Form::Segments scaled;
      for (const int64_t segment : segments)
        if (from == to || (segment % ranks_ == 0 && segment * to % (from * ranks_) == 0))
          scaled.push_back(segment * to / from);
      if (segments.size() > 1 && scaled.size() == segments.size())
        ways_.push_back(
            {{Form::divided(pair.from, segments)}, {Form::divided(pair.to, std::move(scaled))}});
    }
  }

  mlir::Operation* op_;
  FormsOf forms_of_;
  const Borders& borders_;
  int ranks_;
  std::vector<Way> ways_;
};

}  // namespace

std::vector<Way> ways_of(mlir::Operation* op, FormsOf forms_of, const Borders& borders,
                         const llvm::DenseSet<mlir::Value>& weights, int ranks) {
  std::vector<Way> ways = WaysOf(op, forms_of, borders, ranks).all();
  const auto keeps_a_weight_whole = [&](const Way& way) {
    return llvm::any_of(llvm::zip_equal(op->getOperands(), way.operands), [&](const auto& each) {
      const auto& [operand, form] = each;
      return weights.contains(operand) && !form.is(Form::Kind::kDivided);
    });
  };
  if (!llvm::all_of(ways, keeps_a_weight_whole)) std::erase_if(ways, keeps_a_weight_whole);
  return ways;
}

}  // namespace scopevm::compiler::split
