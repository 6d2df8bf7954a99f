// ONNX ops with subgraphs: If, Loop, Scan. Subgraphs can use the names of the enclosing graphs.
#include <algorithm>

#include "compiler/frontend/formula/formula.h"
#include "compiler/frontend/graph_importer.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::frontend {
namespace {

Status invalid(const std::string& message) { return Status(StatusCode::kInvalidModel, message); }

// A trip count of at least this value is treated as unlimited.
constexpr int64_t kNoLimit = int64_t{1} << 40;

const onnx::GraphProto* graph_attribute(Node& n, const char* name) {
  const onnx::AttributeProto* found = n.attribute(name, onnx::AttributeProto::GRAPH);
  if (!found) n.fail("attribute \"" + llvm::Twine(name) + "\" is missing");
  return found ? &found->g() : nullptr;
}

}  // namespace

std::string GraphImporter::fresh_symbol(llvm::StringRef what) {
  // Names of input dims do not start with '$', so new symbols differ from them.
  std::string name = "$";
  if (auto named = mlir::dyn_cast<mlir::NameLoc>(location_)) {
    for (char c : named.getName().getValue())
      name += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
    name += '.';
  }
  name += what.str();
  int& count = fresh_counts_[name];
  std::string symbol = ++count == 1 ? name : name + std::to_string(count);
  return symbol;
}

// Discards the symbolic values after ops were erased, because a new op may have the address of an
// erased op.
void GraphImporter::forget_known_values() {
  symbols_ = std::make_unique<graph::SymbolicValues>(symbols_->intervals());
}

// Removes the values of the enclosing graphs whose names `graph` defines again. The new definitions
// hide them.
void GraphImporter::hide_names_of(const onnx::GraphProto& graph) {
  for (const auto& tensor : graph.initializer()) values_.erase(tensor.name());
  for (const auto& node : graph.node())
    for (const std::string& output : node.output()) {
      values_.erase(output);
      sequences_.erase(output);
    }
}

ControlFlowBuilder GraphImporter::control_flow() {
  return ControlFlowBuilder(builder_, location_, fresh_, forget_);
}

// Imports the nodes of `graph` at the insertion point. `bindings` are the values of the graph's
// inputs.
Result<llvm::SmallVector<Value>> GraphImporter::import_subgraph(const onnx::GraphProto& graph,
                                                                llvm::ArrayRef<Value> bindings) {
  if (static_cast<size_t>(graph.input_size()) != bindings.size())
    return invalid("graph \"" + graph.name() + "\" takes " +
                   runtime::count_text(graph.input_size(), "input") + ", given " +
                   std::to_string(bindings.size()));
  // The importer recurses into subgraphs. The limit protects the stack from malicious models.
  if (subgraph_depth_ == kMaxSubgraphDepth)
    return invalid("graphs are nested more than " + std::to_string(kMaxSubgraphDepth) + " deep");
  ++subgraph_depth_;
  mlir::Location location = location_;
  // Names that the subgraph defines are not visible after it.
  std::map<std::string, Value> outer = values_;
  std::map<std::string, Sequence> outer_sequences = sequences_;
  std::map<std::string, std::string> outer_unsupported = unsupported_;
  Result<llvm::SmallVector<Value>> results = [&]() -> Result<llvm::SmallVector<Value>> {
    hide_names_of(graph);
    for (int i = 0; i < graph.input_size(); ++i) {
      sequences_.erase(graph.input(i).name());
      values_[graph.input(i).name()] = bindings[i];
    }
    SCOPEVM_RETURN_IF_ERROR(import_initializers(graph));
    SCOPEVM_RETURN_IF_ERROR(import_nodes(graph.node()));
    check_declared_types(graph);
    llvm::SmallVector<Value> values;
    for (const auto& output : graph.output()) {
      Value found = any_value(output.name());
      if (!found)
        return invalid("graph \"" + graph.name() + "\": output \"" + output.name() +
                       "\" is not defined by any node");
      values.push_back(found);
    }
    return values;
  }();
  values_ = std::move(outer);
  sequences_ = std::move(outer_sequences);
  unsupported_ = std::move(outer_unsupported);
  location_ = location;
  --subgraph_depth_;
  return results;
}

Result<llvm::SmallVector<Value>> GraphImporter::import_if(Node& n) {
  Value condition = n.input(0);
  const onnx::GraphProto* then = graph_attribute(n, "then_branch");
  const onnx::GraphProto* otherwise = graph_attribute(n, "else_branch");
  if (n.has_failed()) return n.status();
  if (then->output_size() != otherwise->output_size())
    return invalid(
        "its branches return different numbers of values: " + std::to_string(then->output_size()) +
        " and " + std::to_string(otherwise->output_size()));
  if (n.dtype(condition) != DType::kBool)
    return invalid("the condition has element type " + std::string(name(n.dtype(condition))) +
                   ", expected bool");
  // A condition over dims is often known at compile time. Only one branch is then imported.
  const auto* known = symbols_->find(condition);
  if (known && known->size() == 1 && (*known)[0].is_constant())
    return import_subgraph((*known)[0].is_constant(0) ? *otherwise : *then, {});
  if (n.rank(condition) != 0) condition = n.reshape(condition, {});
  if (n.has_failed()) return n.status();
  Branch branches[] = {{then, {}, {}}, {otherwise, {}, {}}};
  auto import_branch = [&](Branch& branch) {
    return [&, this]() -> Result<llvm::SmallVector<Value>> {
      size_t choices = choices_made_;
      auto values = import_subgraph(*branch.graph, {});
      branch.status = values.status();
      if (values.ok())
        branch.types = llvm::to_vector(mlir::ValueRange(*values).getTypes());
      else
        // A choice within the branch may have caused the failure. The whole import is then repeated
        // with another choice (import_onnx()), before the branch is replaced by an assertion.
        needs_other_choice_ |= has_open_choice(choices);
      return values;
    };
  };
  ControlFlowBuilder builder = control_flow();
  auto values = builder.if_else(condition, import_branch(branches[0]), import_branch(branches[1]));
  if (values.ok() || needs_other_choice_) return values;
  forget_known_values();
  if (branches[0].status.ok() && branches[1].status.ok()) {
    // The branches return results of different rank or element type. The ops that use the results
    // are therefore imported for the results of one branch only.
    return import_chosen_branch(n, condition, *then, *otherwise);
  }
  // if_else() stops at the first branch that fails. The other one may be valid.
  return import_valid_branch(n, condition, branches);
}

// Imports only the chosen branch. A call whose condition selects the other branch fails.
Result<llvm::SmallVector<Value>> GraphImporter::import_chosen_branch(
    Node& n, Value condition, const onnx::GraphProto& then, const onnx::GraphProto& otherwise) {
  bool is_then = choose();
  if (!is_then) condition = n.emit<graph::LogicalNotOp>({condition});
  if (n.has_failed()) return n.status();
  builder_.create<graph::AssertOp>(
      location_, condition,
      std::string("the request selects the ") + (is_then ? "else" : "then") +
          "-branch, but this module was compiled for the other branch, whose results differ in "
          "rank or element type");
  return import_subgraph(is_then ? then : otherwise, {});
}

// Imports an If with a branch that cannot be imported, for example because an op does not accept
// the given shapes. That branch becomes an assertion: calls that select it fail.
Result<llvm::SmallVector<Value>> GraphImporter::import_valid_branch(Node& n, Value condition,
                                                                    Branch* branches) {
  bool is_then_valid = branches[0].status.ok();
  Branch& valid_branch = branches[is_then_valid ? 0 : 1];
  const Branch& invalid_branch = branches[is_then_valid ? 1 : 0];
  if (!is_then_valid) {  // the else-branch has not been imported yet
    mlir::Region region;
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToEnd(&region.emplaceBlock());
    size_t choices = choices_made_;
    auto values = import_subgraph(*valid_branch.graph, {});
    needs_other_choice_ |= !values.ok() && has_open_choice(choices);
    if (!values.ok()) return invalid_branch.status;
    valid_branch.types = llvm::to_vector(mlir::ValueRange(*values).getTypes());
  }
  forget_known_values();
  auto fail = [&]() -> Result<llvm::SmallVector<Value>> {
    builder_.create<graph::AssertOp>(location_, n.constant({}, DType::kBool, {0}),
                                     "the selected branch could not be compiled: " +
                                         std::string(invalid_branch.status.message()));
    llvm::SmallVector<Value> values;
    for (mlir::Type type : valid_branch.types) {
      auto tensor = mlir::dyn_cast<graph::TensorType>(type);
      if (!tensor) {
        auto list = mlir::cast<graph::ListType>(type);
        values.push_back(
            lists().make(graph::ListType::get(&context_, list.getKind(), list.getDtype()), {}));
        continue;
      }
      Dims dims(tensor.getShape());
      for (DimExpr& dim : dims)
        // A symbol that the valid branch defines has no value in this branch. Each dim with a
        // runtime-defined symbol is therefore replaced by 0. The values are never read, because the
        // assertion fails first.
        if (llvm::any_of(dim.symbols(), [](const std::string& s) { return s[0] == '$'; })) dim = 0;
      values.push_back(n.expand(n.scalar(0, tensor.getDtype()), dims));
    }
    if (n.has_failed()) return n.status();
    return values;
  };
  auto import = [&] { return import_subgraph(*valid_branch.graph, {}); };
  ControlFlowBuilder builder = control_flow();
  return is_then_valid ? builder.if_else(condition, import, fail)
                       : builder.if_else(condition, fail, import);
}

// --- Choice of branches. ------------------------------------------------------------------------

bool GraphImporter::choose() {
  // Depth-first search: repeats the choices given to this import, then selects then-branches.
  // import_onnx() backtracks.
  if (choices_made_ == choices_.size()) choices_.push_back(true);
  return choices_[choices_made_++];
}

bool GraphImporter::has_open_choice(size_t from) const {
  return std::find(choices_.begin() + static_cast<std::ptrdiff_t>(from),
                   choices_.begin() + static_cast<std::ptrdiff_t>(choices_made_),
                   true) != choices_.begin() + static_cast<std::ptrdiff_t>(choices_made_);
}

namespace {

// Gathered parts must have the same shape in all iterations. If the body's graph declares a number
// for a runtime-defined dim, the part is reshaped to that number. The reshape checks the dim in
// each call.
Value part_as_declared(Node& n, Value part, const onnx::ValueInfoProto& declared) {
  if (!mlir::isa<graph::TensorType>(part.getType())) return part;
  const auto& shape = declared.type().tensor_type().shape();
  if (!declared.type().tensor_type().has_shape() || shape.dim_size() != n.rank(part)) return part;
  Dims dims(n.shape(part));
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const auto& dim = shape.dim(static_cast<int>(axis));
    bool is_runtime_defined =
        llvm::any_of(dims[axis].symbols(), [](const std::string& s) { return s[0] == '$'; });
    // Exporters write -1 for an unknown dim.
    if (is_runtime_defined && dim.has_dim_value() && dim.dim_value() >= 0)
      dims[axis] = dim.dim_value();
  }
  return n.reshape(part, dims);
}

}  // namespace

// The inputs of a Loop are the trip count, the initial condition and the initial carried values.
// The first two are optional.
Result<llvm::SmallVector<Value>> GraphImporter::import_loop(Node& n) {
  const onnx::GraphProto* body = graph_attribute(n, "body");
  llvm::SmallVector<Value> initial;
  for (int i = 2; i < n.proto().input_size(); ++i) {
    const std::string& name = n.proto().input(i);
    initial.push_back(is_list(name) ? any_value(name) : n.input(static_cast<size_t>(i)));
  }
  std::optional<DimExpr> trip_count;
  if (n.has_input(0)) {
    auto count = n.signed_dims_of(n.input(0), "the trip count");
    if (n.has_failed()) return n.status();
    if (count.size() != 1)
      return invalid("the trip count must have 1 element, given " + std::to_string(count.size()));
    trip_count = n.intervals().greater(count[0].positive, 0);
    if (trip_count->is_constant() && *trip_count->as_constant() >= kNoLimit) trip_count.reset();
  }
  if (n.has_input(1)) {
    Dims start = n.dims_of(n.input(1), "the condition");
    if (n.has_failed()) return n.status();
    if (start.size() != 1)
      return invalid("the condition must have 1 element, given " + std::to_string(start.size()));
    if (!start[0].is_constant(1))
      // The initial condition is 0 or 1. If it is 0, the loop runs no iteration.
      trip_count = trip_count.value_or(kNoLimit) * start[0];
  }
  if (n.has_failed()) return n.status();
  // Without an initial condition, ONNX ignores the condition that the body returns.
  bool has_condition = n.has_input(1);
  return control_flow().loop(
      trip_count, initial, [&](DimExpr index, mlir::ValueRange carried) -> Result<Iteration> {
        Value yes = n.constant({}, DType::kBool, {1});
        llvm::SmallVector<Value> inputs = {n.dims_value({index}, /*is_scalar=*/true), yes};
        inputs.append(carried.begin(), carried.end());
        if (n.has_failed()) return n.status();
        SCOPEVM_ASSIGN_OR_RETURN(llvm::SmallVector<Value> outputs, import_subgraph(*body, inputs));
        if (outputs.size() < 1 + carried.size())
          return invalid("its body has " + runtime::count_text(outputs.size(), "output") +
                         ", expected at least " + std::to_string(1 + carried.size()) +
                         ": the condition and one for each carried value");
        if (!mlir::isa<graph::TensorType>(outputs[0].getType()))
          return invalid("the condition returned by its body is a sequence, expected a tensor");
        Iteration iteration;
        const auto* known = symbols_->find(outputs[0]);
        // A condition that is always true is dropped, because the number of iterations of a loop
        // with a condition is unknown.
        bool always = known && known->size() == 1 && (*known)[0].is_constant(1);
        if (has_condition && !always) iteration.condition = n.reshape(outputs[0], {});
        iteration.carried.assign(outputs.begin() + 1, outputs.begin() + 1 + carried.size());
        for (size_t i = 1 + carried.size(); i < outputs.size(); ++i)
          iteration.parts.push_back(
              part_as_declared(n, outputs[i], body->output(static_cast<int>(i))));
        if (n.has_failed()) return n.status();
        return iteration;
      });
}

namespace {

Value move_first_to(Node& n, Value x, int64_t axis) {
  Ints permutation;
  for (int64_t i = 1; i < n.rank(x); ++i) permutation.push_back(i);
  permutation.insert(permutation.begin() + axis, 0);
  return n.transpose(x, permutation);
}

// Entry i of an optional list attribute; 0 if it is absent.
int64_t entry(const Ints& list, size_t i) { return i < list.size() ? list[i] : 0; }

}  // namespace

// A loop over the slices of `scanned` along their axes. Results: the final states, then the outputs
// gathered along a new first dim.
Result<llvm::SmallVector<Value>> GraphImporter::scan_along(Node& n, const onnx::GraphProto& body,
                                                           llvm::ArrayRef<Value> states,
                                                           llvm::ArrayRef<Value> scanned,
                                                           const Ints& axes,
                                                           const Ints& directions) {
  DimExpr length = n.dim(scanned.front(), entry(axes, 0));
  return control_flow().loop(
      length, states, [&](DimExpr index, mlir::ValueRange carried) -> Result<Iteration> {
        llvm::SmallVector<Value> inputs(carried.begin(), carried.end());
        for (size_t i = 0; i < scanned.size(); ++i) {
          DimExpr at = entry(directions, i) ? length - DimExpr(1) - index : index;
          inputs.push_back(Formula(n, scanned[i]).element_at(entry(axes, i), at));
        }
        if (n.has_failed()) return n.status();
        SCOPEVM_ASSIGN_OR_RETURN(llvm::SmallVector<Value> outputs, import_subgraph(body, inputs));
        if (outputs.size() < states.size())
          return invalid("its body has " + runtime::count_text(outputs.size(), "output") +
                         ", expected at least " + std::to_string(states.size()) +
                         ", one for each state");
        Iteration iteration;
        iteration.carried.assign(outputs.begin(), outputs.begin() + states.size());
        iteration.parts.assign(outputs.begin() + states.size(), outputs.end());
        return iteration;
      });
}

Result<llvm::SmallVector<Value>> GraphImporter::import_scan(Node& n) {
  const onnx::GraphProto* body = graph_attribute(n, "body");
  const int64_t given = n.integer("num_scan_inputs");
  if (n.has_failed()) return n.status();
  // Before opset 9, input 0 contains the sequence lengths.
  const size_t first = n.opset() < 9 ? 1 : 0;
  if (n.input_count() <= first) return invalid("it has no scan input, expected at least 1");
  const auto most = static_cast<int64_t>(n.input_count() - first);
  if (given < 1 || given > most)
    return invalid("num_scan_inputs is " + std::to_string(given) + ", expected 1 to " +
                   std::to_string(most));
  const auto scanned_count = static_cast<size_t>(given);
  llvm::SmallVector<Value> all;
  for (size_t i = first; i < n.input_count(); ++i) all.push_back(n.input(i));
  llvm::ArrayRef<Value> states = llvm::ArrayRef(all).drop_back(scanned_count),
                        scanned = llvm::ArrayRef(all).take_back(scanned_count);
  if (n.opset() < 9) return import_batched_scan(n, *body, states, scanned);
  Ints axes = n.integers("scan_input_axes"), directions = n.integers("scan_input_directions");
  Ints out_axes = n.integers("scan_output_axes"),
       out_directions = n.integers("scan_output_directions");
  for (size_t i = 0; i < axes.size() && i < scanned_count; ++i)
    axes[i] = n.axis(axes[i], n.rank(scanned[i]));
  if (n.has_failed()) return n.status();
  auto results = scan_along(n, *body, states, scanned, axes, directions);
  if (!results.ok()) return results;
  for (size_t i = states.size(); i < results->size(); ++i) {
    Value& result = (*results)[i];
    // With a reversed direction, each iteration prepends its part. Reversing the gathered output
    // once is equivalent.
    if (entry(out_directions, i - states.size())) result = Formula(n, result).reversed(0);
    int64_t axis = n.axis(entry(out_axes, i - states.size()), n.rank(result));
    if (axis != 0 && !n.has_failed()) result = move_first_to(n, result, axis);
  }
  if (n.has_failed()) return n.status();
  return results;
}

// Scan of opset 8: dim 0 of every input and output is a batch, and the body processes one batch
// element. Dim 1 of scanned values is the sequence.
Result<llvm::SmallVector<Value>> GraphImporter::import_batched_scan(Node& n,
                                                                    const onnx::GraphProto& body,
                                                                    llvm::ArrayRef<Value> states,
                                                                    llvm::ArrayRef<Value> scanned) {
  if (n.has_input(0)) n.unsupported("input 0, the sequence lengths, is not supported");
  Ints directions = n.integers("directions");
  DimExpr batch = n.dim(scanned.front(), 0);
  if (n.has_failed()) return n.status();
  return control_flow().loop(batch, {}, [&](DimExpr index, mlir::ValueRange) -> Result<Iteration> {
    auto of_element = [&](llvm::ArrayRef<Value> values) {
      llvm::SmallVector<Value> parts;
      for (Value value : values) parts.push_back(Formula(n, value).element_at(0, index));
      return parts;
    };
    llvm::SmallVector<Value> own_states = of_element(states), own = of_element(scanned);
    if (n.has_failed()) return n.status();
    Iteration iteration;
    // The results of one batch element are gathered along a new dim 0, the batch.
    SCOPEVM_ASSIGN_OR_RETURN(iteration.parts, scan_along(n, body, own_states, own, {}, directions));
    return iteration;
  });
}

}  // namespace scopevm::compiler::frontend
