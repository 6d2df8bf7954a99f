// Searches a model for random operators; see random_nodes.h.
#include "compiler/import/ops/random/random_nodes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "compiler/import/ops/op_table.h"
#include "compiler/import/scope/opsets.h"

namespace scopevm::compiler::frontend {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

class Search {
 public:
  explicit Search(const onnx::ModelProto& model) : model_(model) {}

  bool run() {
    use_opset(model_.opset_import());
    return is_in(model_.graph()) ||
           std::ranges::any_of(model_.functions(), [&](const onnx::FunctionProto& function) {
             use_opset(function.opset_import());
             return is_in(function.node());
           });
  }

 private:
  void use_opset(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
    for (const onnx::OperatorSetIdProto& opset : imports)
      if (normalised_domain(opset.domain()).empty()) opset_ = static_cast<int>(opset.version());
  }

  bool is_in(const onnx::GraphProto& graph) {
    for (const onnx::TensorProto& tensor : graph.initializer()) constants_[tensor.name()] = &tensor;
    return is_in(graph.node());
  }
  bool is_in(const Nodes& nodes) {
    return std::ranges::any_of(nodes, [&](const onnx::NodeProto& node) { return is_random(node); });
  }

  bool is_random(const onnx::NodeProto& node) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g() && is_in(attribute.g())) return true;
      if (node.op_type() == "Constant" && attribute.has_t() && node.output_size() > 0)
        constants_[node.output(0)] = &attribute.t();
    }
    if (!normalised_domain(node.domain()).empty()) return false;
    const OpRow* row = find_op(model_, node, opset_);
    return row && row->is_random && !is_inference(node);
  }

  // True of a Dropout that never drops elements.
  bool is_inference(const onnx::NodeProto& node) {
    if (node.op_type() != "Dropout") return false;
    if (opset_ < 7)
      return std::ranges::any_of(node.attribute(), [](const onnx::AttributeProto& attribute) {
        return attribute.name() == "is_test" && attribute.i() != 0;
      });
    if (opset_ < 12 || node.input_size() < 3 || node.input(2).empty()) return true;
    const auto mode = constants_.find(node.input(2));
    if (mode == constants_.end()) return false;
    const onnx::TensorProto& tensor = *mode->second;
    return tensor.raw_data() == std::string(1, '\0') ||
           (tensor.int32_data_size() == 1 && tensor.int32_data(0) == 0);
  }

  const onnx::ModelProto& model_;
  int opset_ = 0;
  std::map<std::string, const onnx::TensorProto*> constants_;
};

}  // namespace

bool has_random_ops(const onnx::ModelProto& model) { return Search(model).run(); }

}  // namespace scopevm::compiler::frontend
