// Visits the nodes of a model, of its functions and of their inner graphs; see list_ops.h. The
// decisions are those of ModelImport::import_node().
#include "compiler/import/ops/list_ops.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "compiler/import/model/function_body.h"
#include "compiler/import/model/onnx_file.h"
#include "compiler/import/ops/external/external_ops.h"
#include "compiler/import/ops/node_schema.h"
#include "compiler/import/ops/op_table.h"
#include "compiler/import/scope/kept_outputs.h"
#include "compiler/import/scope/opsets.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
using Support = ModelOp::Support;

class OpList {
 public:
  OpList(const onnx::ModelProto& model, ExternalOps external)
      : model_(model), external_(std::move(external)) {}

  void add(const Nodes& nodes, const Opsets& opsets, const NeededPart& part = {}) {
    size_t index = 0;
    for (const onnx::NodeProto& node : nodes) {
      const std::string name = node_label(node, index++);
      if (!part.contains(node)) continue;
      ModelOp op = op_of(node, opsets);
      called_.emplace(node.domain(), node.op_type());
      const auto known = std::ranges::find_if(ops_, [&](const ModelOp& other) {
        return std::tie(op.name, op.opset, op.support, op.reason) ==
               std::tie(other.name, other.opset, other.support, other.reason);
      });
      (known == ops_.end() ? ops_.emplace_back(std::move(op)) : *known).nodes.push_back(name);
      for (const onnx::AttributeProto& attribute : node.attribute())
        if (attribute.has_g()) add(attribute.g().node(), opsets);
    }
  }

  // Whether a node that was added calls the function.
  bool calls(const onnx::FunctionProto& function) const {
    return called_.contains({function.domain(), function.name()});
  }

  std::vector<ModelOp> take() {
    std::ranges::stable_sort(ops_, {}, &ModelOp::name);
    return std::move(ops_);
  }

 private:
  ModelOp op_of(const onnx::NodeProto& node, const Opsets& opsets) const {
    const std::string& domain = normalised_domain(node.domain());
    const std::optional<int> opset = opsets.version(domain);
    ModelOp op{.name = (domain.empty() ? "" : domain + ".") + node.op_type(),
               .opset = opset.value_or(0)};
    const OpRow* row = opset ? find_op(model_, node, *opset) : nullptr;
    if (!opset)
      op.reason = "the model does not import an opset of domain " + runtime::quoted(domain);
    else if (external_.contains(domain + "." + node.op_type()))
      op.support = Support::kExternal;
    else if (const Status status = check_schema(node, *opset, row); !status.ok())
      op.reason = status.message();
    else if (row != nullptr)
      op.support = Support::kHandler;
    else if (const Status status = check_function(node, *opset, opsets); !status.ok())
      op.reason = status.message();
    else
      op.support = Support::kFunction;
    return op;
  }

  // The nodes of a function of the model are in the list themselves.
  Status check_function(const onnx::NodeProto& node, int opset, const Opsets& opsets) const {
    if (find_model_function(model_, node) != nullptr) return {};
    // The types of the inputs are unknown here. A body can depend on them.
    onnx::TypeProto type;
    type.mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    const std::vector<onnx::TypeProto> types(static_cast<size_t>(node.input_size()), type);
    const auto body = function_body(model_, node, opset, types);
    if (!body && has_typed_body(node, opset)) return {};
    if (!body) return not_supported(node);
    Opsets inner = opsets;
    SCOPEVM_RETURN_IF_ERROR(inner.add(body->opset_import()));
    for (const onnx::NodeProto& part : body->node())
      if (const ModelOp op = op_of(part, inner); op.support == Support::kNone)
        return Status(StatusCode::kUnsupported, "its function has " + op.name + ": " + op.reason);
    return {};
  }

  const onnx::ModelProto& model_;
  const ExternalOps external_;
  std::vector<ModelOp> ops_;
  std::set<std::pair<std::string, std::string>> called_;  // domains and names
};

}  // namespace

Status not_supported(const onnx::NodeProto& node) {
  return {StatusCode::kUnsupported,
          std::string("this op is not supported") +
              (normalised_domain(node.domain()).empty()
                   ? ""
                   : "; an external function can compute it (--external-functions)")};
}

Result<std::vector<ModelOp>> list_ops(const onnx::ModelProto& model, const ImportOptions& options,
                                      mlir::MLIRContext& context) {
  Opsets opsets(options.allow_newer_opset);
  SCOPEVM_RETURN_IF_ERROR(opsets.add(model.opset_import()));
  SCOPEVM_ASSIGN_OR_RETURN(
      ExternalOps external,
      ExternalOps::parse(options.external_functions, options.external_functions_name, context));
  SCOPEVM_ASSIGN_OR_RETURN(const NeededPart part, NeededPart::of(model.graph(), options.outputs));
  OpList list(model, std::move(external));
  list.add(model.graph().node(), opsets, part);
  std::vector<const onnx::FunctionProto*> functions;
  for (const onnx::FunctionProto& function : model.functions()) functions.push_back(&function);
  // With all outputs, also the functions that no node calls.
  const auto is_listed = [&](const onnx::FunctionProto* function) {
    return options.outputs.empty() || list.calls(*function);
  };
  for (auto next = std::ranges::find_if(functions, is_listed); next != functions.end();
       next = std::ranges::find_if(functions, is_listed)) {
    Opsets inner = opsets;
    SCOPEVM_RETURN_IF_ERROR(inner.add((*next)->opset_import()));
    list.add((*next)->node(), inner);
    functions.erase(next);
  }
  return list.take();
}

Status with_unsupported_ops(Status error, const onnx::ModelProto& model,
                            const ImportOptions& options, mlir::MLIRContext& context) {
  constexpr size_t kMostNames = 20;
  const Result<std::vector<ModelOp>> ops = list_ops(model, options, context);
  std::set<std::string> names;
  if (ops.ok())
    for (const ModelOp& op : *ops)
      if (op.support == ModelOp::Support::kNone) names.insert(op.name);
  if (error.code() != StatusCode::kUnsupported || names.size() < 2) return error;
  std::string list;
  size_t count = 0;
  for (const std::string& name : names)
    if (count++ < kMostNames) list += (list.empty() ? "" : ", ") + runtime::escaped(name);
  if (names.size() > kMostNames)
    list += " and " + std::to_string(names.size() - kMostNames) + " more";
  return {error.code(), std::string(error.message()) + "; " + std::to_string(names.size()) +
                            " ops of the model are not supported: " + list};
}

}  // namespace scopevm::compiler::frontend
