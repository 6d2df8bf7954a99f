// See split_tensors.h.
#include "compiler/split/tensor/split_tensors.h"

#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/type_rule.h"
#include "compiler/split/constrain.h"
#include "compiler/split/op_work.h"
#include "compiler/split/tensor/parts.h"
#include "compiler/split/tensor/search.h"
#include "compiler/split/tensor/selection.h"

namespace scopevm::compiler::split {
namespace {

using graph::type_of;

// A value of the function before the split, in all forms that exist until now.
struct Held {
  int stage = 0;
  Forms forms;
  llvm::SmallVector<Parts, 2> parts;  // of `forms`
};

// Sets the dims in attributes of a copy of an op whose results have one part of the elements.
void divide_dims(mlir::Operation* op, const Form& result, int rank, int ranks) {
  if (!result.is(Form::Kind::kDivided)) return;
  const auto with = [&](graph::DimsAttr dims, int64_t dim) {
    llvm::SmallVector<DimExpr> changed(dims.getValue());
    changed[result.axis] = dim;
    return graph::DimsAttr::get(op->getContext(), changed);
  };
  const int64_t size = result.size_on(rank, ranks);
  if (auto reshape = mlir::dyn_cast<graph::ReshapeOp>(op))
    reshape.setDimsAttr(with(reshape.getDims(), size));
  if (auto expand = mlir::dyn_cast<graph::ExpandOp>(op))
    expand.setDimsAttr(with(expand.getDims(), size));
  if (auto slice = mlir::dyn_cast<graph::SliceOp>(op))
    slice.setSizesAttr(with(slice.getSizes(), size));
}

// The axis of a state that the ranks divide, such as the heads of a cache: the last one whose size
// is a multiple of their number. It is neither the axis along which calls append, nor the last one
// of the others, the features of a head. -1: none.
int64_t divided_axis(const InPlaceState& state, int ranks) {
  const graph::TensorType type = type_of(state.value);
  const int64_t last = type.getRank() - 1, features = state.axis == last ? last - 1 : last;
  for (int64_t axis = features - 1; axis >= 0; --axis) {
    const std::optional<int64_t> size = type.getDim(axis).as_constant();
    if (axis != state.axis && size && *size > 0 && *size % ranks == 0) return axis;
  }
  return -1;
}

// A state, and how the ranks hold it: whole or divided.
struct SplitState {
  InPlaceState state;
  Form form;
  std::optional<int> stage;  // of main, for a variant
};

// A block, and the least stage of its ops.
struct StagedBlock {
  mlir::Block* block;
  int stage = 0;
};

// What is the same for all blocks of a function.
struct Context {
  mlir::func::FuncOp function;
  const Group& group;
  const StageOfOp& stages;
  llvm::ArrayRef<std::string> devices;
  StateChoices& states;
  llvm::DenseSet<mlir::Value> weights;
  std::vector<StagedBlock> blocks;  // that are not split yet
  bool has_divided = false;
};

class TensorSplit {
 public:
  TensorSplit(StagedBlock staged, Context& context)
      : block_(*staged.block),
        least_stage_(staged.stage),
        context_(context),
        builder_(block_.getParentOp()->getContext()) {}

  Status run() {
    if (&block_ == &context_.function.getBody().front()) find_states();
    BlockForms forms;
    for (const SplitState& each : states_) {
      if (each.form.is(Form::Kind::kWhole)) continue;
      forms.arguments[each.state.value] = each.form;
      forms.results[each.state.output] = each.form;
    }
    const std::vector<Way> ways = choose_ways(block_, context_.weights, context_.group, forms);
    for (mlir::BlockArgument argument : block_.getArguments()) hold(argument, least_stage_);
    for (const SplitState& each : states_)
      if (!each.form.is(Form::Kind::kWhole)) hold_parts(each.state, each.form);
    std::vector<mlir::Operation*> replaced;
    for (const auto [op, way] : llvm::zip_equal(ops(), ways)) {
      builder_.setInsertionPoint(op);
      if (!way.is_on_all_ranks()) {
        keep(op);
        continue;
      }
      context_.has_divided = context_.has_divided || way.divides();
      SCOPEVM_RETURN_IF_ERROR(way.is_merged ? select(op, way) : copy(op, way));
      replaced.push_back(op);
    }
    for (mlir::Operation* op : llvm::reverse(replaced)) op->erase();
    for (const SplitState& each : states_)
      if (!each.form.is(Form::Kind::kWhole))
        context_.function.eraseArgument(each.state.value.getArgNumber());
    return {};
  }

 private:
  int ranks() const { return context_.group.ranks(); }

  std::vector<mlir::Operation*> ops() {
    std::vector<mlir::Operation*> ops;
    for (mlir::Operation& op : block_) ops.push_back(&op);
    return ops;
  }

  Held& hold(mlir::Value value, int stage) {
    Held& held = held_[value];
    held = {stage, {Form::whole()}, {{value}}};
    return held;
  }

  void find_states() {
    for (const InPlaceState& state : states_of(context_.function)) {
      const auto [choice, is_new] = context_.states.try_emplace(graph::input_name(state.value));
      if (is_new) choice->second.axis = divided_axis(state, ranks());
      SplitState split{state, Form::whole(), std::nullopt};
      if (!is_new) split.stage = choice->second.stage;
      if (const int64_t axis = choice->second.axis; axis >= 0)
        split.form = Form::divided(axis, {*type_of(state.value).getDim(axis).as_constant()});
      states_.push_back(std::move(split));
    }
  }

  // Adds an argument for each part.
  void hold_parts(const InPlaceState& state, const Form& form) {
    Parts parts;
    for (int rank = 0; rank < ranks(); ++rank) {
      llvm::SmallVector<DimExpr> dims(type_of(state.value).getShape());
      dims[form.axis] = form.size_on(rank, ranks());
      parts.push_back(add_part(context_.function, state, static_cast<unsigned>(rank),
                               type_of(state.value).withShape(dims)));
    }
    held_[state.value] = {least_stage_, {form}, {std::move(parts)}};
  }

  // The last outputs first, so that the numbers of the others do not change.
  void return_states(mlir::Operation* end) {
    llvm::stable_sort(states_, [](const SplitState& a, const SplitState& b) {
      return a.state.output > b.state.output;
    });
    for (const auto& [state, form, known_stage] : states_) {
      const mlir::Value next = end->getOperand(state.output);
      const int stage = known_stage.value_or(held_[next].stage);
      context_.states[graph::input_name(state.value)].stage = stage;
      if (form.is(Form::Kind::kWhole)) {
        if (stage > 0) place_state(context_.function, state, device(stage, 0));
        continue;
      }
      const Parts outputs = in_form(next, form), values = in_form(state.value, form);
      std::vector<StatePart> parts;
      for (int rank = 0; rank < ranks(); ++rank)
        parts.push_back(
            {mlir::cast<mlir::BlockArgument>(values[rank]), outputs[rank], device(stage, rank)});
      replace_output(context_.function, state.output, parts);
    }
  }

  // Of a state of main, for a variant that appends to it.
  std::optional<int> stage_of_state(mlir::Operation* op) const {
    for (const SplitState& each : states_)
      if (mlir::isa<graph::InsertSliceOp>(op) && op->getOperand(0) == each.state.value)
        return each.stage;
    return std::nullopt;
  }

  int stage_of(mlir::Operation* op) {
    if (const std::optional<int> stage = stage_of_state(op)) return *stage;
    const auto assigned = context_.stages.find(op);
    int stage = assigned == context_.stages.end() ? least_stage_ : assigned->second;
    for (mlir::Value operand : op->getOperands())
      if (const auto held = held_.find(operand); held != held_.end() && !is_constant(operand))
        stage = std::max(stage, held->second.stage);
    return stage;
  }

  // Reads whole values, also those that the op's regions use.
  void keep(mlir::Operation* op) {
    if (op->hasTrait<mlir::OpTrait::IsTerminator>() && !states_.empty()) return_states(op);
    op->walk([&](mlir::Operation* inner) {
      for (mlir::OpOperand& operand : inner->getOpOperands())
        if (held_.contains(operand.get()))
          operand.set(in_form(operand.get(), Form::whole()).front());
    });
    const int stage = stage_of(op);
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region) context_.blocks.push_back({&block, stage});
    for (mlir::Value result : op->getResults()) hold(result, stage);
  }

  Status copy(mlir::Operation* op, const Way& way) {
    const int stage = stage_of(op);
    std::vector<Parts> operands;
    for (const auto [operand, form] : llvm::zip_equal(op->getOperands(), way.operands))
      operands.push_back(in_form(operand, form));
    std::vector<Parts> results(op->getNumResults());
    for (int rank = 0; rank < ranks(); ++rank) {
      mlir::Operation* const copy = builder_.clone(*op);
      for (const auto [i, parts] : llvm::enumerate(operands))
        copy->setOperand(static_cast<unsigned>(i), parts[rank]);
      shift_start(copy, way, rank);
      divide_dims(copy, way.results.front(), rank, ranks());
      if (failed(graph::infer_results(copy))) return no_type();
      for (const auto [i, result] : llvm::enumerate(copy->getResults()))
        results[i].push_back(on(result, stage, rank));
    }
    for (const auto [i, result] : llvm::enumerate(op->getResults()))
      held_[result] = {stage, {way.results[i]}, {std::move(results[i])}};
    return {};
  }

  // Selects from the parts, and then from what all ranks have selected: on all ranks, or on the
  // first one.
  Status select(mlir::Operation* op, const Way& way) {
    const int stage = stage_of(op);
    const Form& x = way.operands.front();
    const Parts parts = in_form(op->getOperand(0), x);
    std::vector<Selected> selected;
    for (int rank = 0; rank < ranks(); ++rank) {
      const auto own =
          select_from_part(builder_, op, parts[rank], chunk_of(x.size(), rank, ranks()).start);
      if (failed(own)) return no_type();
      selected.push_back({on(own->values, stage, rank), on(own->indices, stage, rank)});
    }
    const Form& form = way.results.front();
    std::vector<Parts> results(op->getNumResults());
    for (int rank = 0; rank < (form.is(Form::Kind::kWhole) ? 1 : ranks()); ++rank) {
      const auto merged = select_from_selected(builder_, op, selected);
      if (failed(merged)) return no_type();
      for (const auto [i, result] : llvm::enumerate(*merged))
        results[i].push_back(on(result, stage, rank));
    }
    for (const auto [i, result] : llvm::enumerate(op->getResults()))
      held_[result] = {stage, {form}, {std::move(results[i])}};
    return {};
  }

  static Status no_type() {
    return {StatusCode::kInternal, "--split: a part of an op has no type"};
  }

  // A slice of whole segments begins after the parts of the segments before it.
  void shift_start(mlir::Operation* op, const Way& way, int rank) const {
    auto slice = mlir::dyn_cast<graph::SliceOp>(op);
    const Form& x = way.operands.front();
    if (!slice || !x.is(Form::Kind::kDivided)) return;
    llvm::SmallVector<DimExpr> starts(slice.getStarts().getValue());
    const int64_t start = starts[x.axis].as_constant().value_or(0);
    int64_t before = 0, shifted = 0;
    for (const int64_t segment : x.segments) {
      if (before >= start) break;
      before += segment;
      shifted += chunk_of(segment, rank, ranks()).size;
    }
    starts[x.axis] = shifted;
    slice.setStartsAttr(graph::DimsAttr::get(op->getContext(), starts));
  }

  mlir::Value on(mlir::Value value, int stage, int rank) {
    return constrain(builder_, value, device(stage, rank));
  }

  const std::string& device(int stage, int rank) const {
    return context_.devices[static_cast<size_t>(stage) * static_cast<size_t>(ranks()) +
                            static_cast<size_t>(rank)];
  }

  const Parts& in_form(mlir::Value value, const Form& form) {
    auto found = held_.find(value);
    // A constant, or a value from outside. Its parts need no stage.
    Held& held = found == held_.end() ? hold(value, least_stage_) : found->second;
    const auto known = llvm::find(held.forms, form);
    if (known != held.forms.end()) return held.parts[known - held.forms.begin()];
    const double bytes = bytes_of(value);
    const Form from = context_.group.cheapest(held.forms, form, bytes);
    Parts parts = held.parts[llvm::find(held.forms, from) - held.forms.begin()];
    parts = converted(value, from, std::move(parts), form, held.stage);
    // Conversions in two steps have added other forms.
    Held& now = held_[value];
    now.forms.push_back(form);
    now.parts.push_back(std::move(parts));
    return now.parts.back();
  }

  Parts converted(mlir::Value value, const Form& from, Parts parts, const Form& to, int stage) {
    if (to.is(Form::Kind::kWhole)) {
      if (from.is(Form::Kind::kReplicated)) return {parts.front()};
      return {on(whole_of(builder_, parts, from), stage, 0)};
    }
    Parts result;
    if (to.is(Form::Kind::kDivided)) {
      if (from.is(Form::Kind::kDivided)) {
        parts = in_form(value, Form::replicated());
        return converted(value, Form::replicated(), std::move(parts), to, stage);
      }
      for (int rank = 0; rank < ranks(); ++rank) {
        Parts own;
        for (int other = 0; other < static_cast<int>(parts.size()); ++other) {
          if (from.is(Form::Kind::kReplicated) && other != rank) continue;
          const mlir::Value part = part_of(builder_, parts[other], to, rank, ranks());
          own.push_back(from.is(Form::Kind::kWhole) ? part : on(part, stage, other));
        }
        result.push_back(own.size() == 1 ? own.front()
                                         : on(whole_of(builder_, own, from), stage, rank));
      }
      return result;
    }
    if (from.is(Form::Kind::kWhole)) return Parts(static_cast<size_t>(ranks()), parts.front());
    if (from.is(Form::Kind::kPartial) && context_.group.combines_in_parts(bytes_of(value)))
      if (const std::optional<Form> form = any_division(value)) {
        parts = in_form(value, *form);
        return converted(value, *form, std::move(parts), to, stage);
      }
    for (int rank = 0; rank < ranks(); ++rank)
      result.push_back(on(whole_of(builder_, parts, from), stage, rank));
    return result;
  }

  // The first axis that has an element for each rank.
  std::optional<Form> any_division(mlir::Value value) const {
    for (const auto [axis, dim] : llvm::enumerate(type_of(value).getShape()))
      if (const auto size = dim.as_constant(); size && *size >= ranks())
        return Form::divided(static_cast<int64_t>(axis), {*size});
    return std::nullopt;
  }

  mlir::Block& block_;
  const int least_stage_;
  Context& context_;
  mlir::OpBuilder builder_;
  llvm::DenseMap<mlir::Value, Held> held_;
  std::vector<SplitState> states_;  // of the function
};

}  // namespace

Result<bool> split_tensors(mlir::func::FuncOp function, const Group& group, const StageOfOp& stages,
                           llvm::ArrayRef<std::string> devices, StateChoices& states) {
  Context context{function, group, stages, devices, states, weights_of(function, group.ranks()),
                  {}};
  context.blocks.push_back({&function.getBody().front()});
  while (!context.blocks.empty()) {
    const StagedBlock block = context.blocks.back();
    context.blocks.pop_back();
    SCOPEVM_RETURN_IF_ERROR(TensorSplit(block, context).run());
  }
  return context.has_divided;
}

}  // namespace scopevm::compiler::split
