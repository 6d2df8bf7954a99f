// Imports an ONNX graph; see graph_importer.h.
#include "compiler/frontend/graph_importer.h"

#include <cctype>
#include <set>

#include "compiler/frontend/constants.h"
#include "compiler/frontend/declared_types.h"
#include "compiler/frontend/dim_names.h"
#include "compiler/frontend/function_body.h"
#include "compiler/frontend/node_schema.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/graph/type_rule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::frontend {
namespace {

Status invalid(const std::string& message) { return Status(StatusCode::kInvalidModel, message); }

// Converts the model's name of a dimension to an identifier of MLIR assembly.
std::string identifier(const std::string& name) {
  std::string result;
  for (char c : name) result += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0]))) result = "d" + result;
  for (const char* function : {"min", "max", "mod", "floordiv", "ceildiv"})
    // These names would parse as function calls.
    if (result == function) result += "_";
  return result;
}

// The most nodes of function bodies in a model. Functions that call others twice expand to a number
// of nodes that doubles with each of them.
constexpr int64_t kMaxFunctionNodes = 100'000;

// A newer opset can change the meaning of ops that the handlers implement.
constexpr int kNewestOpset = 22;
constexpr int kNewestOtherOpset = 1000;  // of other domains

// "" and "ai.onnx" both denote the standard domain.
const std::string& domain_of(const std::string& domain) {
  static const std::string standard;
  return domain == "ai.onnx" ? standard : domain;
}

int onnx_code(DType dtype) {
  for (int code = 1; code < 32; ++code)
    if (dtype_of_onnx(code) == dtype) return code;
  return 0;
}

onnx::TypeProto type_proto(Value value) {
  onnx::TypeProto proto;
  if (!value || !mlir::isa<graph::TensorType>(value.getType())) return proto;
  auto type = mlir::cast<graph::TensorType>(value.getType());
  proto.mutable_tensor_type()->set_elem_type(onnx_code(type.getDtype()));
  auto* shape = proto.mutable_tensor_type()->mutable_shape();
  for (DimExpr dim : type.getShape()) {
    auto* to = shape->add_dim();
    if (auto constant = dim.as_constant()) to->set_dim_value(*constant);
  }
  return proto;
}

std::string label(const onnx::NodeProto& node, size_t index) {
  return node.name().empty() ? node.op_type() + "_" + std::to_string(index) : node.name();
}

}  // namespace

GraphImporter::GraphImporter(std::shared_ptr<OnnxFile> file, const ImportOptions& options,
                             mlir::MLIRContext& context, std::vector<bool>& choices)
    : file_(std::move(file)),
      options_(options),
      context_(context),
      builder_(&context),
      location_(mlir::UnknownLoc::get(&context)),
      choices_(choices) {}

Value GraphImporter::value(const std::string& name) const {
  auto found = values_.find(name);
  return found == values_.end() ? Value() : found->second;
}

std::string GraphImporter::take_diagnostics() {
  std::string all;
  for (const std::string& diagnostic : diagnostics_) all += (all.empty() ? "" : "; ") + diagnostic;
  diagnostics_.clear();
  return all.empty() ? "the operands or attributes are invalid" : all;
}

// Adds the opsets that the model or a function imports.
Status GraphImporter::read_opsets(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  std::map<std::string, int> own;
  for (const auto& import : imports) {
    const std::string& domain = domain_of(import.domain());
    const int newest = domain.empty() ? kNewestOpset : kNewestOtherOpset;
    if (import.version() < 1 || import.version() > newest)
      return invalid("opset version is " + std::to_string(import.version()) + ", expected 1 to " +
                     std::to_string(newest));
    const int version = static_cast<int>(import.version());
    const auto [entry, is_new] = own.try_emplace(domain, version);
    if (!is_new && entry->second != version)
      return invalid("opsets " + std::to_string(entry->second) + " and " + std::to_string(version) +
                     " of domain \"" + domain + "\" are imported");
  }
  for (const auto& [domain, version] : own) opsets_[domain] = version;
  return {};
}

// --- Inputs. ------------------------------------------------------------------------------------

DimExpr GraphImporter::dim_named(const std::string& name) {
  if (auto expression = dim_expression(name, model_dims_,
                                       [&](const std::string& part) { return dim_named(part); }))
    return *expression;
  const std::string symbol = identifier(name);
  // Two names may map to the same identifier: the later one gets a suffix. Dims with equal names in
  // the model share a symbol.
  std::string candidate = symbol;
  for (int suffix = 2; dims_.try_emplace(candidate, name).first->second != name; ++suffix)
    candidate = symbol + "_" + std::to_string(suffix);
  return named_dim(candidate, options_.dims);
}

DimExpr GraphImporter::unnamed_dim(const std::string& input, size_t axis) {
  const std::string name = input + "_d" + std::to_string(axis);
  // The name must differ from all names of the model, also from those of later inputs.
  std::string candidate = name;
  auto is_taken = [&] {
    return llvm::any_of(model_dims_,
                        [&](const std::string& other) {
                          return identifier(other) == identifier(candidate);
                        }) ||
           !dims_.try_emplace(identifier(candidate), candidate).second;
  };
  for (int suffix = 2; is_taken(); ++suffix) candidate = name + "_" + std::to_string(suffix);
  return named_dim(identifier(candidate), options_.dims);
}

Result<mlir::Type> GraphImporter::type_of_input(const onnx::ValueInfoProto& input) {
  if (input.type().has_sequence_type() || input.type().has_optional_type()) {
    SCOPEVM_ASSIGN_OR_RETURN(graph::ListType list, list_type_of(context_, input.type()));
    return mlir::Type(list);
  }
  if (!input.has_type() || !input.type().has_tensor_type())
    return Status(StatusCode::kUnsupported,
                  "only tensors, sequences and optionals are supported as inputs");
  const auto& tensor = input.type().tensor_type();
  std::optional<DType> dtype = dtype_of_onnx(tensor.elem_type());
  if (!dtype)
    return Status(StatusCode::kUnsupported,
                  "element type " + onnx_type_name(tensor.elem_type()) + " is not supported");
  if (!tensor.has_shape())
    return Status(StatusCode::kUnsupported, "its rank is unknown: the declared type has no shape");
  Dims shape;
  for (const auto& dim : tensor.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      shape.push_back(dim.dim_value());
    else if (!dim.dim_param().empty())
      shape.push_back(dim_named(dim.dim_param()));
    else
      shape.push_back(unnamed_dim(input.name(), shape.size()));
  }
  return mlir::Type(graph::TensorType::get(&context_, *dtype, shape));
}

Status GraphImporter::declare_inputs(mlir::func::FuncOp function) {
  const onnx::GraphProto& graph = file_->model.graph();
  std::set<std::string> initializers;
  for (const auto& tensor : graph.initializer()) initializers.insert(tensor.name());
  for (const auto& input : graph.input())
    for (const auto& dim : input.type().tensor_type().shape().dim())
      if (!dim.dim_param().empty()) model_dims_.insert(dim.dim_param());
  llvm::SmallVector<mlir::Type> types;
  for (const auto& input : graph.input()) {
    // Before IR version 4, each initializer is also listed as an input. It is imported as a
    // constant.
    if (initializers.contains(input.name())) continue;
    if (input.name().empty()) return invalid("a graph input has no name");
    Result<mlir::Type> known = type_of_input(input);
    if (!known.ok()) {
      // The error is reported with the name of the first node that reads the input. run() reports
      // it if no node does.
      unsupported_[input.name()] = known.status().message();
      continue;
    }
    mlir::Type type = *known;
    types.push_back(type);
    mlir::Location location = mlir::NameLoc::get(mlir::StringAttr::get(&context_, input.name()));
    Value argument = function.getBody().front().addArgument(type, location);
    if (!values_.try_emplace(input.name(), argument).second)
      return invalid("input \"" + input.name() + "\" is declared twice");
  }
  function.setType(mlir::FunctionType::get(&context_, types, {}));
  unsigned index = 0;
  for (const auto& input : graph.input())
    if (!initializers.contains(input.name()) && !unsupported_.contains(input.name()))
      function.setArgAttr(index++, "sv.name", mlir::StringAttr::get(&context_, input.name()));
  return {};
}

Status GraphImporter::check_dim_options() const {
  std::set<std::string> names;
  for (const auto& [name, model_name] : dims_) names.insert(name);
  return check_dim_names(options_.dims, names);
}

Status GraphImporter::import_initializers(const onnx::GraphProto& graph) {
  for (const auto& tensor : graph.initializer()) {
    Result<TensorBytes> read = tensor_bytes(tensor, file_);
    if (!read.ok() && read.status().code() == StatusCode::kUnsupported) {
      // An unused initializer of an unsupported type does not make the model unusable.
      unsupported_[tensor.name()] = read.status().message();
      continue;
    }
    SCOPEVM_ASSIGN_OR_RETURN(TensorBytes bytes, std::move(read));
    mlir::Location location = mlir::NameLoc::get(mlir::StringAttr::get(&context_, tensor.name()));
    Value value = make_constant(builder_, location, bytes, tensor.name());
    if (!values_.try_emplace(tensor.name(), value).second)
      return invalid("initializer \"" + tensor.name() + "\" is declared twice");
  }
  if (graph.sparse_initializer_size() > 0)
    return Status(StatusCode::kUnsupported, "sparse initializers are not supported");
  return {};
}

// --- Nodes. -------------------------------------------------------------------------------------

bool GraphImporter::is_produced_later(const std::string& name) const {
  for (const auto& node : file_->model.graph().node())
    for (const std::string& output : node.output())
      if (output == name) return true;
  return false;
}

Status GraphImporter::bind(const onnx::NodeProto& node, size_t output, Value value) {
  const std::string& name = node.output(static_cast<int>(output));
  if (name.empty() || !value) return {};
  // Replaces a value whose elements are known by a constant or sv.dims_tensor, so that shape
  // arithmetic needs no kernel.
  const std::vector<DimExpr>* elements = symbols_->find(value);
  mlir::Operation* op = value.getDefiningOp();
  if (elements && op && !mlir::isa<graph::ConstantOp, graph::DimsTensorOp>(op))
    if (Value known =
            graph::materialise(builder_, location_, mlir::cast<graph::TensorType>(value.getType()),
                               std::vector<DimExpr>(*elements)))
      value = known;
  if (!values_.try_emplace(name, value).second)
    return invalid("its output \"" + name + "\" is already defined");
  return {};
}

Status GraphImporter::import_node(const onnx::NodeProto& proto, size_t index) {
  const std::string& domain = domain_of(proto.domain());
  auto opset = opsets_.find(domain);
  std::string version = opset == opsets_.end() ? "?" : std::to_string(opset->second);
  std::string context = "node \"" + label(proto, index) + "\" (" +
                        (domain.empty() ? "" : domain + ".") + proto.op_type() + ", opset " +
                        version + ")";
  auto failed_with = [&](Status status) { return std::move(status).with_context(context); };
  if (opset == opsets_.end())
    return failed_with(invalid("the model does not import an opset of domain \"" + domain + "\""));
  location_ = mlir::NameLoc::get(mlir::StringAttr::get(&context_, label(proto, index)));
  for (const std::string& input : proto.input()) {
    if (input.empty()) continue;
    if (is_list(input)) {
      bool takes_lists = domain.empty() && (is_sequence_op(proto) || proto.op_type() == "Loop");
      if (takes_lists) continue;
      return failed_with(Status(StatusCode::kUnsupported,
                                "input \"" + input + "\" is a sequence, expected a tensor"));
    }
    if (values_.contains(input)) continue;
    if (auto reason = unsupported_.find(input); reason != unsupported_.end())
      return failed_with(
          Status(StatusCode::kUnsupported, "input \"" + input + "\": " + reason->second));
    return failed_with(invalid(
        "input \"" + input + "\" is not defined" +
        (is_produced_later(input) ? " yet: the nodes are out of order, or form a cycle" : "")));
  }
  if (const std::string op = domain + "." + proto.op_type(); external_ops_.contains(op))
    return failed_with(import_external(op, proto, opset->second));
  if (domain.empty())
    if (Status status = check_schema(proto, opset->second); !status.ok())
      return failed_with(std::move(status));
  // Sequence ops and ops with subgraphs need the importer's state. Any other op has a handler, or a
  // function body in the model or in the ONNX standard.
  if (domain.empty() && is_sequence_op(proto))
    return failed_with(import_sequence_op(proto, opset->second));
  bool has_subgraphs = domain.empty() && (proto.op_type() == "If" || proto.op_type() == "Loop" ||
                                          proto.op_type() == "Scan");
  if (has_subgraphs) return failed_with(import_with_subgraphs(proto, opset->second));
  Handler handler = domain.empty() ? find_handler(proto.op_type(), opset->second) : nullptr;
  return failed_with(handler ? import_with_handler(handler, proto, opset->second)
                             : import_function_body(proto, opset->second));
}

Status GraphImporter::import_with_handler(Handler handler, const onnx::NodeProto& proto,
                                          int opset) {
  Node node(*this, proto, opset);
  return bind_outputs(node, handler(node));
}

Status GraphImporter::import_external(const std::string& op, const onnx::NodeProto& proto,
                                      int opset) {
  Node node(*this, proto, opset);
  return bind_outputs(node, external_ops_.call(node, op, *this));
}

Status GraphImporter::bind_outputs(Node& node, const Values& values) {
  if (node.has_failed()) return node.status();
  for (size_t i = 0; i < node.output_count(); ++i) {
    if (!node.wants_output(i)) continue;
    // A handler returns fewer values if it does not support an optional output.
    if (i >= values.get().size() || !values.get()[i])
      return Status(StatusCode::kUnsupported, "output " + std::to_string(i) + " is not supported");
    SCOPEVM_RETURN_IF_ERROR(bind(node.proto(), i, values.get()[i]));
  }
  return {};
}

Status GraphImporter::import_with_subgraphs(const onnx::NodeProto& proto, int opset) {
  Node node(*this, proto, opset);
  Result<llvm::SmallVector<Value>> values = proto.op_type() == "If"     ? import_if(node)
                                            : proto.op_type() == "Loop" ? import_loop(node)
                                                                        : import_scan(node);
  if (!values.ok()) return values.status();
  if (values->size() != node.output_count())
    return invalid("its subgraphs return " + runtime::count_text(values->size(), "result") +
                   ", expected " + std::to_string(node.output_count()) + ", one for each output");
  for (size_t i = 0; i < values->size(); ++i) SCOPEVM_RETURN_IF_ERROR(bind(proto, i, (*values)[i]));
  return {};
}

// Imports the nodes of the function's body in place of the node. The names of the body are local:
// the body's inputs denote the node's inputs, and its outputs become the node's outputs.
Status GraphImporter::import_function_body(const onnx::NodeProto& proto, int opset) {
  const std::string name = proto.domain() + "." + proto.op_type();
  if (std::ranges::find(functions_, name) != functions_.end())
    return invalid("function \"" + name + "\" calls itself, directly or through other functions");
  if (functions_.size() == kMaxNesting)
    return invalid("functions are nested more than " + std::to_string(kMaxNesting) + " deep");
  std::vector<onnx::TypeProto> types;
  for (const std::string& input : proto.input()) types.push_back(type_proto(value(input)));
  auto body = function_body(file_->model, proto, opset, types);
  if (!body) return Status(StatusCode::kUnsupported, "this op is not supported");
  const onnx::FunctionProto& function = *body;
  function_nodes_ += function.node_size();
  if (function_nodes_ > kMaxFunctionNodes)
    return invalid("the functions of the model expand to more than " +
                   std::to_string(kMaxFunctionNodes) + " nodes");
  // Constants may share bytes with the body, so the body must live as long as the file.
  file_->bodies.push_back(std::move(body));
  std::map<std::string, Value> outer_values;
  std::map<std::string, Sequence> outer_sequences;
  std::map<std::string, int> outer_opsets = opsets_;
  for (int i = 0; i < std::min(function.input_size(), proto.input_size()); ++i)
    if (Value operand = value(proto.input(i))) outer_values[function.input(i)] = operand;
  SCOPEVM_RETURN_IF_ERROR(read_opsets(function.opset_import()));
  std::swap(values_, outer_values);
  std::swap(sequences_, outer_sequences);
  functions_.push_back(name);
  Status status = import_nodes(function.node());
  functions_.pop_back();
  std::swap(values_, outer_values);
  std::swap(sequences_, outer_sequences);
  opsets_ = outer_opsets;
  SCOPEVM_RETURN_IF_ERROR(status);
  for (int i = 0; i < std::min(function.output_size(), proto.output_size()); ++i) {
    Value result = outer_values[function.output(i)];
    if (!result && !proto.output(i).empty())
      return Status(StatusCode::kUnsupported, "output " + std::to_string(i) + " is not supported");
    SCOPEVM_RETURN_IF_ERROR(bind(proto, static_cast<size_t>(i), result));
  }
  return {};
}

Status GraphImporter::import_nodes(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  size_t index = 0;
  for (const auto& node : nodes) SCOPEVM_RETURN_IF_ERROR(import_node(node, index++));
  return {};
}

// --- Main function. -----------------------------------------------------------------------------

Result<std::vector<Value>> GraphImporter::collect_outputs(mlir::func::FuncOp function) {
  std::vector<Value> outputs;
  const onnx::GraphProto& graph = file_->model.graph();
  if (graph.output_size() == 0) return invalid("the graph has no outputs");
  for (const auto& output : graph.output()) {
    Value found = any_value(output.name());
    if (!found) return invalid("output \"" + output.name() + "\" is not defined by any node");
    // check_declared_types() has accepted the value of a loop or branch that is not declared as an
    // optional.
    const auto list = mlir::dyn_cast<graph::ListType>(found.getType());
    if (list && is_optional(list.getKind()) && output.has_type() &&
        !output.type().has_optional_type()) {
      SCOPEVM_ASSIGN_OR_RETURN(found, lists().get(found, 0));
    }
    outputs.push_back(found);
  }
  llvm::SmallVector<mlir::Type> types;
  for (Value output : outputs) types.push_back(output.getType());
  function.setType(
      mlir::FunctionType::get(&context_, function.getFunctionType().getInputs(), types));
  for (int i = 0; i < graph.output_size(); ++i)
    function.setResultAttr(static_cast<unsigned>(i), "sv.name",
                           mlir::StringAttr::get(&context_, graph.output(i).name()));
  return outputs;
}

mlir::Type GraphImporter::type_of(const std::string& name) const {
  if (const auto list = sequences_.find(name); list != sequences_.end()) return list->second.type;
  const Value found = value(name);
  return found ? found.getType() : mlir::Type();
}

// Whether the name denotes an optional that a loop or a branch carries. The import makes such a
// value an optional if it is one in any iteration or branch; ONNX models declare its element.
bool GraphImporter::is_widened(const std::string& name) const {
  const Value found = value(name);
  if (!found) return false;
  const auto list = mlir::dyn_cast<graph::ListType>(found.getType());
  mlir::Operation* op = found.getDefiningOp();
  return list && is_optional(list.getKind()) && (!op || op->getNumRegions() > 0);
}

void GraphImporter::check_declared_types(const onnx::GraphProto& graph) {
  const auto check = [&](const char* kind, const onnx::ValueInfoProto& declared) {
    const mlir::Type type = type_of(declared.name());
    if (!type) return;
    if (is_widened(declared.name())) return;
    const Contradiction kept = contradiction(declared.type(), type);
    if (kept == Contradiction::kNone) return;
    const std::string message = std::string(kind) + " \"" + declared.name() + "\" is declared as " +
                                frontend::text_of(context_, declared.type()) + ", but is " +
                                graph::text_of(type);
    if (kept == Contradiction::kDims)
      warnings_.push_back(message);
    else if (contradiction_.ok())
      contradiction_ = invalid(message);
  };
  // The declared types of the inputs of `main` define its arguments.
  for (const auto& input : graph.input()) check("input", input);
  for (const auto& value : graph.value_info()) check("value", value);
  for (const auto& output : graph.output()) check("output", output);
}

Result<ImportedModule> GraphImporter::run() {
  mlir::ScopedDiagnosticHandler handler(&context_, [&](mlir::Diagnostic& diagnostic) {
    diagnostics_.push_back(diagnostic.str());
    return mlir::success();
  });
  SCOPEVM_RETURN_IF_ERROR(read_opsets(file_->model.opset_import()));
  SCOPEVM_ASSIGN_OR_RETURN(
      external_ops_,
      ExternalOps::parse(options_.external_functions, options_.external_functions_name, context_));
  ImportedModule module{mlir::OwningOpRef<mlir::ModuleOp>(mlir::ModuleOp::create(location_))};
  module_ = *module;
  builder_.setInsertionPointToEnd(module->getBody());
  auto function =
      builder_.create<mlir::func::FuncOp>(location_, "main", builder_.getFunctionType({}, {}));
  function.addEntryBlock();
  builder_.setInsertionPointToStart(&function.getBody().front());
  SCOPEVM_RETURN_IF_ERROR(declare_inputs(function));
  // All named dims are known once the inputs are declared.
  SCOPEVM_RETURN_IF_ERROR(check_dim_options());
  symbols_ = std::make_unique<graph::SymbolicValues>(graph::DimIntervals());
  SCOPEVM_RETURN_IF_ERROR(import_initializers(file_->model.graph()));
  SCOPEVM_RETURN_IF_ERROR(import_nodes(file_->model.graph().node()));
  check_declared_types(file_->model.graph());
  SCOPEVM_RETURN_IF_ERROR(contradiction_);
  for (const auto& input : file_->model.graph().input())
    if (auto reason = unsupported_.find(input.name()); reason != unsupported_.end())
      return Status(StatusCode::kUnsupported, "input \"" + input.name() + "\": " + reason->second);
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<Value> outputs, collect_outputs(function));
  builder_.create<mlir::func::ReturnOp>(mlir::UnknownLoc::get(&context_), outputs);
  llvm::SmallVector<mlir::NamedAttribute> names;
  for (const auto& [name, model_name] : dims_)
    if (name != model_name)
      names.push_back(builder_.getNamedAttr(name, builder_.getStringAttr(model_name)));
  if (!names.empty()) function->setAttr("sv.dim_names", builder_.getDictionaryAttr(names));
  // Handlers may emit unused ops, for example for unused outputs.
  graph::remove_unused(function);
  if (failed(mlir::verify(*module)))
    return Status(StatusCode::kInternal, "the imported graph is not valid: " + take_diagnostics());
  module.warnings = std::move(warnings_);
  return module;
}

Result<ImportedModule> import_onnx(const std::string& path, const std::shared_ptr<OnnxFile>& file,
                                   const ImportOptions& options, mlir::MLIRContext& context) {
  // Backtracking search over the choices of GraphImporter::choose(). After a failed import, the
  // last then-branch among the choices is replaced by the else-branch, and later choices are
  // dropped. If all tries fail, the error of the first one is returned.
  constexpr int kMostTries = 16;
  std::vector<bool> choices;
  Status first;
  for (int i = 0; i < kMostTries; ++i) {
    Result<ImportedModule> module = GraphImporter(file, options, context, choices).run();
    if (module.ok()) return module;
    if (i == 0) first = module.status();
    while (!choices.empty() && !choices.back()) choices.pop_back();
    if (choices.empty()) break;
    choices.back() = false;
  }
  return std::move(first).with_context(path);
}

}  // namespace scopevm::compiler::frontend
