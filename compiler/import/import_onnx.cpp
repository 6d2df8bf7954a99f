// ONNX -> graph: imports the nodes of a model in order. A node is imported by the handler of its op
// (op_table.cpp), by an external function, or as the body of a function in place of the node.
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/graph/values/elements.h"
#include "compiler/import/builder/constants.h"
#include "compiler/import/builder/small_values.h"
#include "compiler/import/import.h"
#include "compiler/import/invalid.h"
#include "compiler/import/model/default_inputs.h"
#include "compiler/import/model/function_body.h"
#include "compiler/import/model/onnx_types.h"
#include "compiler/import/node/import_state.h"
#include "compiler/import/ops/external/external_ops.h"
#include "compiler/import/ops/list_ops.h"
#include "compiler/import/ops/node_schema.h"
#include "compiler/import/ops/op_table.h"
#include "compiler/import/ops/random/random_nodes.h"
#include "compiler/import/scope/declared_types.h"
#include "compiler/import/scope/function_calls.h"
#include "compiler/import/scope/input_types.h"
#include "compiler/import/scope/kept_outputs.h"
#include "compiler/import/scope/opsets.h"
#include "llvm/Support/SaveAndRestore.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "runtime/count_text.h"
#include "runtime/quoted.h"
#include "runtime/state_pairs.h"
#include "vm/format/schema/entry_name.h"

namespace scopevm::compiler::frontend {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

Status unsupported(const std::string& message) { return Status(StatusCode::kUnsupported, message); }

class ModelImport {
 public:
  ModelImport(std::shared_ptr<OnnxFile> file, const ImportOptions& options,
              mlir::MLIRContext& context, BranchChoices& choices)
      : options_(options),
        context_(context),
        model_(file->model),
        opsets_(options.allow_newer_opset),
        inputs_(model_.graph(), options.dims),
        defaults_(model_, options.freeze_inputs),
        state_{.file = std::move(file),
               .builder = GraphBuilder(context),
               .scope = {},
               .choices = choices,
               .float_products = options.float_products,
               .import_subgraph = [this](const onnx::GraphProto& graph, SubgraphInputs inputs) {
                 return import_subgraph(graph, inputs);
               }} {}

  // Errors name the node, not the file.
  Result<ImportedModule> run();
  // The node of the error of run(); empty if it has none.
  const std::string& failed_node() const { return failed_node_; }

 private:
  mlir::Location named_location(const std::string& name) {
    return mlir::NameLoc::get(mlir::StringAttr::get(&context_, name));
  }
  Status declare_inputs(mlir::func::FuncOp function, const NeededPart& part);
  // The inputs of ImportOptions::states.
  Status find_states();
  // Adds the default of the input to `attributes` if it has one.
  Result<mlir::Type> type_of_input(const onnx::ValueInfoProto& input,
                                   mlir::NamedAttrList& attributes);
  Status import_initializers(const onnx::GraphProto& graph, const NeededPart& part = {});
  Result<std::vector<Value>> collect_outputs(mlir::func::FuncOp function, const NeededPart& part);

  Status import_nodes(const Nodes& nodes, const NeededPart& part = {});
  Status import_node(const onnx::NodeProto& node, int opset, const OpRow* row);
  Status check_inputs(const onnx::NodeProto& node, bool takes_lists) const;
  bool is_produced_later(const std::string& name) const;
  Status bind_outputs(Node& node, const Values& values);
  Status bind(const onnx::NodeProto& node, size_t output, Value value);
  Status import_function_body(const onnx::NodeProto& node, int opset);
  Result<SubgraphOutputs> import_subgraph(const onnx::GraphProto& graph, SubgraphInputs inputs);
  Result<SubgraphOutputs> import_nodes_of(const onnx::GraphProto& graph, SubgraphInputs inputs);

  const ImportOptions& options_;
  mlir::MLIRContext& context_;
  const onnx::ModelProto& model_;
  mlir::ModuleOp module_;
  ExternalOps external_ops_;
  Opsets opsets_;  // of the model, or of the function whose body is imported
  FunctionCalls calls_;
  InputTypes inputs_;
  DefaultInputs defaults_;
  // A branch whose types contradict the declared ones is not replaced by an assertion, so run()
  // reports the contradiction.
  DeclaredTypes declared_types_;
  size_t subgraph_depth_ = 0;
  std::string failed_node_;
  // Of the function whose body is imported: the names of the calls that lead to it, each followed
  // by "/".
  std::string function_path_;
  std::vector<std::string> inputs_with_default_;
  ImportState state_;
};

// --- Inputs and outputs of the model. -----------------------------------------------------------

Result<mlir::Type> ModelImport::type_of_input(const onnx::ValueInfoProto& input,
                                              mlir::NamedAttrList& attributes) {
  const onnx::TensorProto* tensor = defaults_.find(input.name());
  if (!tensor) return inputs_.type_of(input, context_);
  SCOPEVM_ASSIGN_OR_RETURN(const TensorBytes bytes, tensor_bytes(*tensor, state_.file));
  auto constant =
      make_constant(state_.builder, bytes, input.name()).getDefiningOp<graph::ConstantOp>();
  attributes.set(graph::kDefaultAttribute, constant.getValue());
  inputs_with_default_.push_back(input.name());
  if (!input.type().tensor_type().has_shape()) {
    const auto type = mlir::cast<graph::TensorType>(constant.getType());
    const SmallType* small = small_type(tensor->data_type());
    return mlir::Type(small ? type.withDType(small->dtype) : type);
  }
  SCOPEVM_ASSIGN_OR_RETURN(const mlir::Type type, inputs_.type_of(input, context_));
  if (const std::string error = graph::error_of_default(type, constant.getValue()); !error.empty())
    return invalid("input " + runtime::quoted(input.name()) + ": its initializer: " + error);
  return type;
}

Status ModelImport::declare_inputs(mlir::func::FuncOp function, const NeededPart& part) {
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Attribute> attributes;
  for (const auto& input : model_.graph().input()) {
    if (defaults_.is_constant(input.name())) continue;
    if (defaults_.find(input.name()) && !part.contains(input.name())) continue;
    if (input.name().empty()) return invalid("a graph input has no name");
    mlir::NamedAttrList own;
    own.set("sv.name", mlir::StringAttr::get(&context_, input.name()));
    Result<mlir::Type> type = type_of_input(input, own);
    if (!type.ok() && type.status().code() != StatusCode::kUnsupported) return type.status();
    if (!type.ok()) {
      // The error is reported with the name of the first node that reads the input. run() reports
      // it if no node does.
      state_.scope.declare_unsupported(input.name(), std::string(type.status().message()));
      continue;
    }
    types.push_back(*type);
    attributes.push_back(own.getDictionary(&context_));
    Value value = function.getBody().front().addArgument(*type, named_location(input.name()));
    const SmallType* small = small_type(input.type().tensor_type().elem_type());
    if (small) value = unpack_small(state_.builder, value, *small);
    if (!state_.scope.define(input.name(), value))
      return invalid("input " + runtime::quoted(input.name()) + " is declared twice");
    state_.scope.set_small_type(input.name(), small);
  }
  function.setType(mlir::FunctionType::get(&context_, types, {}));
  function.setAllArgAttrs(attributes);
  if (has_random_ops(model_)) {
    std::string seed = "seed";
    while (state_.scope.contains(seed)) seed += "_";
    state_.builder.random_keys().declare_seed(function, seed);
  }
  // All named dims are known once the inputs are declared.
  SCOPEVM_RETURN_IF_ERROR(inputs_.check_bounds(!options_.states.empty()));
  return find_states();
}

// The passes check the names (graph::tie_states()).
Status ModelImport::find_states() {
  std::vector<std::string> inputs, outputs;
  for (const auto& input : model_.graph().input()) inputs.push_back(input.name());
  for (const auto& output : model_.graph().output()) outputs.push_back(output.name());
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::StatePairs pairs,
                           runtime::parse_state_pairs(options_.states, inputs, outputs));
  for (const auto& [input, output] : pairs)
    if (Value value = state_.scope.find(input)) state_.states.insert(value);
  return {};
}

Status ModelImport::import_initializers(const onnx::GraphProto& graph, const NeededPart& part) {
  const mlir::Location location = state_.builder.getLoc();
  for (const auto& tensor : graph.initializer()) {
    if (!part.contains(tensor.name())) continue;
    if (&graph == &model_.graph() && defaults_.find(tensor.name())) continue;
    Result<TensorBytes> read = tensor_bytes(tensor, state_.file);
    if (!read.ok() && read.status().code() == StatusCode::kUnsupported) {
      // An unused initializer of an unsupported type does not make the model unusable.
      state_.scope.declare_unsupported(tensor.name(), std::string(read.status().message()));
      continue;
    }
    SCOPEVM_ASSIGN_OR_RETURN(TensorBytes bytes, std::move(read));
    state_.builder.setLoc(named_location(tensor.name()));
    Value value = make_constant(state_.builder, bytes, tensor.name());
    state_.builder.setLoc(location);
    if (!state_.scope.define(tensor.name(), value))
      return invalid("initializer " + runtime::quoted(tensor.name()) + " is declared twice");
    state_.scope.set_small_type(tensor.name(), small_type(tensor.data_type()));
  }
  if (graph.sparse_initializer_size() > 0)
    return unsupported("sparse initializers are not supported");
  return {};
}

Result<std::vector<Value>> ModelImport::collect_outputs(mlir::func::FuncOp function,
                                                        const NeededPart& part) {
  const onnx::GraphProto& graph = model_.graph();
  if (graph.output_size() == 0) return invalid("the graph has no outputs");
  std::vector<Value> outputs;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<llvm::StringRef> names;
  for (const auto& output : graph.output()) {
    if (!part.contains_output(output.name())) continue;
    Value found = state_.scope.find(output.name());
    if (!found)
      return invalid("output " + runtime::quoted(output.name()) + " is not defined by any node");
    // DeclaredTypes has accepted the value of a loop or branch that is not declared as an optional.
    const auto list = mlir::dyn_cast<graph::ListType>(found.getType());
    if (list && is_optional(list.getKind()) && output.has_type() &&
        !output.type().has_optional_type()) {
      SCOPEVM_ASSIGN_OR_RETURN(found, ListBuilder(state_.builder).get(found, 0));
    }
    // The declared type decides: that of the value can be the guess of an operator.
    const int declared = output.type().tensor_type().elem_type();
    const SmallType* small =
        declared != 0 ? small_type(declared) : state_.scope.small_type(output.name());
    if (small && !list) found = pack_small(state_.builder, found, *small);
    outputs.push_back(found);
    types.push_back(found.getType());
    names.push_back(output.name());
  }
  function.setType(
      mlir::FunctionType::get(&context_, function.getFunctionType().getInputs(), types));
  for (auto [index, name] : llvm::enumerate(names))
    function.setResultAttr(static_cast<unsigned>(index), "sv.name",
                           mlir::StringAttr::get(&context_, name));
  return outputs;
}

Result<ImportedModule> ModelImport::run() {
  GraphBuilder& builder = state_.builder;
  SCOPEVM_RETURN_IF_ERROR(opsets_.add(model_.opset_import()));
  SCOPEVM_ASSIGN_OR_RETURN(
      external_ops_,
      ExternalOps::parse(options_.external_functions, options_.external_functions_name, context_));
  ImportedModule module{
      mlir::OwningOpRef<mlir::ModuleOp>(mlir::ModuleOp::create(builder.getLoc()))};
  module_ = *module;
  builder.setInsertionPointToEnd(module->getBody());
  auto function =
      builder.create<mlir::func::FuncOp>(format::kEntryName, builder.getFunctionType({}, {}));
  function.addEntryBlock();
  builder.setInsertionPointToStart(&function.getBody().front());
  SCOPEVM_ASSIGN_OR_RETURN(const NeededPart part, NeededPart::of(model_.graph(), options_.outputs));
  SCOPEVM_RETURN_IF_ERROR(declare_inputs(function, part));
  SCOPEVM_RETURN_IF_ERROR(import_initializers(model_.graph(), part));
  SCOPEVM_RETURN_IF_ERROR(import_nodes(model_.graph().node(), part));
  declared_types_.check(model_.graph(), state_.scope);
  SCOPEVM_RETURN_IF_ERROR(Status(declared_types_.contradiction()));
  for (const auto& input : model_.graph().input())
    if (const std::string* reason = state_.scope.why_unsupported(input.name()))
      return unsupported("input " + runtime::quoted(input.name()) + ": " + *reason);
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<Value> outputs, collect_outputs(function, part));
  builder.setLoc(mlir::UnknownLoc::get(&context_));
  builder.create<mlir::func::ReturnOp>(outputs);
  // Handlers may emit unused ops, for example for unused outputs.
  graph::remove_unused(function);
  if (failed(mlir::verify(*module)))
    return Status(StatusCode::kInternal,
                  "the imported graph is not valid: " + builder.take_errors());
  module.warnings = declared_types_.take_warnings();
  if (!inputs_with_default_.empty())
    module.warnings.push_back(DefaultInputs::warning(inputs_with_default_));
  return module;
}

// --- Nodes. -------------------------------------------------------------------------------------

Status ModelImport::import_nodes(const Nodes& nodes, const NeededPart& part) {
  size_t index = 0;
  for (const onnx::NodeProto& node : nodes) {
    const std::string name = node_label(node, index++);
    if (!part.contains(node)) continue;
    const std::string& domain = normalised_domain(node.domain());
    const std::optional<int> opset = opsets_.version(domain);
    Status status;
    if (opset) {
      state_.builder.setLoc(graph::op_location(&context_, function_path_ + name, node.op_type()));
      status = import_node(node, *opset, find_op(model_, node, *opset));
    } else {
      status = invalid("the model does not import an opset of domain " + runtime::quoted(domain));
    }
    if (status.ok()) continue;
    if (failed_node_.empty()) failed_node_ = name;  // the innermost node
    return std::move(status).with_context(
        "node " + runtime::quoted(name) + " (" + (domain.empty() ? "" : domain + ".") +
        node.op_type() + ", opset " + (opset ? std::to_string(*opset) : "?") + ")");
  }
  return {};
}

// `row` is null if the table has no row for the op.
Status ModelImport::import_node(const onnx::NodeProto& proto, int opset, const OpRow* row) {
  SCOPEVM_RETURN_IF_ERROR(check_inputs(proto, row && row->takes_lists));
  const std::string& domain = normalised_domain(proto.domain());
  const llvm::SaveAndRestore path(
      state_.path, state_.path + "/" + (proto.output_size() > 0 ? proto.output(0) : ""));
  Node node(state_, proto, opset);
  if (const std::string op = domain + "." + proto.op_type(); external_ops_.contains(op))
    return bind_outputs(node, external_ops_.call(node, op, module_));
  SCOPEVM_RETURN_IF_ERROR(check_schema(proto, opset, row));
  return row ? bind_outputs(node, row->handler(node)) : import_function_body(proto, opset);
}

Status ModelImport::check_inputs(const onnx::NodeProto& node, bool takes_lists) const {
  for (const std::string& input : node.input()) {
    if (input.empty()) continue;
    const std::string name = "input " + runtime::quoted(input);
    if (const Value found = state_.scope.find(input)) {
      if (takes_lists || !mlir::isa<graph::ListType>(found.getType())) continue;
      return unsupported(name + " is a sequence, expected a tensor");
    }
    if (const std::string* reason = state_.scope.why_unsupported(input))
      return unsupported(name + ": " + *reason);
    return invalid(
        name + " is not defined" +
        (is_produced_later(input) ? " yet: the nodes are out of order, or form a cycle" : ""));
  }
  return {};
}

bool ModelImport::is_produced_later(const std::string& name) const {
  return llvm::any_of(model_.graph().node(), [&](const onnx::NodeProto& node) {
    return llvm::is_contained(node.output(), name);
  });
}

Status ModelImport::bind_outputs(Node& node, const Values& values) {
  if (node.has_failed()) return node.status();
  for (size_t i = 0; i < node.output_count(); ++i) {
    if (!node.wants_output(i)) continue;
    // A handler returns fewer values if it does not support an optional output.
    if (i >= values.get().size() || !values.get()[i])
      return unsupported("output " + std::to_string(i) + " is not supported");
    SCOPEVM_RETURN_IF_ERROR(bind(node.proto(), i, values.get()[i]));
    state_.scope.set_small_type(node.proto().output(static_cast<int>(i)),
                                node.small_result(i, values.get()[i]));
  }
  return {};
}

Status ModelImport::bind(const onnx::NodeProto& node, size_t output, Value value) {
  const std::string& name = node.output(static_cast<int>(output));
  if (name.empty() || !value) return {};
  // Shape arithmetic needs no kernel.
  if (!state_.scope.define(name, state_.builder.materialised(value)))
    return invalid("its output " + runtime::quoted(name) + " is already defined");
  return {};
}

// --- Functions and nested graphs. ---------------------------------------------------------------

// Imports the nodes of the function's body in place of the node. The names of the body are local:
// the body's inputs denote the node's inputs, and its outputs become the node's outputs.
Status ModelImport::import_function_body(const onnx::NodeProto& proto, int opset) {
  const std::string name = proto.domain() + "." + proto.op_type();
  SCOPEVM_RETURN_IF_ERROR(calls_.check(name));
  std::vector<onnx::TypeProto> types;
  for (const std::string& input : proto.input())
    types.push_back(type_proto(state_.scope.find(input)));
  auto body = function_body(model_, proto, opset, types);
  if (!body) return not_supported(proto);
  const onnx::FunctionProto& function = *body;
  // Constants may share bytes with the body, so the body must live as long as the file.
  state_.file->bodies.push_back(std::move(body));
  SCOPEVM_RETURN_IF_ERROR(calls_.enter(name, function.node_size()));
  const Opsets outer_opsets = opsets_;
  SCOPEVM_RETURN_IF_ERROR(opsets_.add(function.opset_import()));
  // The location of the call has its name. Each node of the body has a copy of it.
  constexpr size_t kLongestName = 1000;
  const llvm::StringRef call = mlir::cast<mlir::NameLoc>(state_.builder.getLoc()).getName();
  const llvm::SaveAndRestore inner_path(
      function_path_, call.size() > kLongestName ? function_path_ : call.str() + "/");
  Scope scope;
  for (int i = 0; i < std::min(function.input_size(), proto.input_size()); ++i)
    if (Value operand = state_.scope.find(proto.input(i))) {
      scope.bind(function.input(i), operand);
      scope.set_small_type(function.input(i), state_.scope.small_type(proto.input(i)));
    }
  std::swap(state_.scope, scope);
  Status status = import_nodes(function.node());
  std::swap(state_.scope, scope);
  opsets_ = outer_opsets;
  calls_.leave();
  SCOPEVM_RETURN_IF_ERROR(std::move(status));
  for (int i = 0; i < std::min(function.output_size(), proto.output_size()); ++i) {
    Value result = scope.find(function.output(i));
    if (!result && !proto.output(i).empty())
      return unsupported("output " + std::to_string(i) + " is not supported");
    SCOPEVM_RETURN_IF_ERROR(bind(proto, static_cast<size_t>(i), result));
    if (result) state_.scope.set_small_type(proto.output(i), scope.small_type(function.output(i)));
  }
  return {};
}

// Imports the nodes of `graph` at the insertion point. Names that the graph defines are not visible
// after it.
Result<SubgraphOutputs> ModelImport::import_subgraph(const onnx::GraphProto& graph,
                                                     SubgraphInputs inputs) {
  if (static_cast<size_t>(graph.input_size()) != inputs.values.size())
    return invalid("graph " + runtime::quoted(graph.name()) + " takes " +
                   runtime::count_text(graph.input_size(), "input") + ", given " +
                   std::to_string(inputs.values.size()));
  // The importer recurses into subgraphs. The limit protects the stack from malicious models.
  if (subgraph_depth_ == kMaxNesting)
    return invalid("graphs are nested more than " + std::to_string(kMaxNesting) + " deep");
  ++subgraph_depth_;
  const mlir::Location location = state_.builder.getLoc();
  Scope outer = state_.scope;
  Result<SubgraphOutputs> results = import_nodes_of(graph, inputs);
  state_.scope = std::move(outer);
  state_.builder.setLoc(location);
  --subgraph_depth_;
  return results;
}

Result<SubgraphOutputs> ModelImport::import_nodes_of(const onnx::GraphProto& graph,
                                                     SubgraphInputs inputs) {
  Scope& scope = state_.scope;
  scope.hide_names_of(graph);
  for (auto [input, value] : llvm::zip(graph.input(), inputs.values))
    scope.bind(input.name(), value);
  for (auto [input, type] : llvm::zip(graph.input(), inputs.small_types))
    scope.set_small_type(input.name(), type);
  SCOPEVM_RETURN_IF_ERROR(import_initializers(graph));
  SCOPEVM_RETURN_IF_ERROR(import_nodes(graph.node()));
  declared_types_.check(graph, scope);
  SubgraphOutputs outputs;
  for (const auto& output : graph.output()) {
    Value found = scope.find(output.name());
    if (!found)
      return invalid("graph " + runtime::quoted(graph.name()) + ": output " +
                     runtime::quoted(output.name()) + " is not defined by any node");
    outputs.values.push_back(found);
    outputs.small_types.push_back(scope.small_type(output.name()));
  }
  return outputs;
}

}  // namespace

Result<ImportedModule> import_onnx(const std::string& path, const std::shared_ptr<OnnxFile>& file,
                                   const ImportOptions& options, mlir::MLIRContext& context) {
  // If all tries fail, the error of the first one is returned.
  constexpr int kMostTries = 16;
  BranchChoices choices;
  Status first;
  std::string node;
  for (int i = 0; i < kMostTries; ++i) {
    ModelImport import(file, options, context, choices);
    Result<ImportedModule> module = import.run();
    if (module.ok()) {
      module->variants = choices.variants();
      llvm::append_range(module->warnings, choices.warnings());
      return module;
    }
    if (i == 0) {
      first = module.status();
      node = import.failed_node();
    }
    if (!choices.advance()) break;
  }
  first = with_unsupported_ops(std::move(first), file->model, options, context);
  if (options.diagnose)
    options.diagnose(
        {Diagnostic::Severity::kError, path, 0, 0, node, std::string(first.message())});
  return std::move(first).with_context(path);
}

}  // namespace scopevm::compiler::frontend
