// Initializers of inputs; see default_inputs.h.
#include "compiler/import/model/default_inputs.h"

#include <algorithm>

#include "runtime/count_text.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {

DefaultInputs::DefaultInputs(const onnx::ModelProto& model, bool freeze) {
  std::set<std::string> inputs;
  for (const onnx::ValueInfoProto& input : model.graph().input()) inputs.insert(input.name());
  const bool are_constant = freeze || model.ir_version() < 4;
  for (const onnx::TensorProto& tensor : model.graph().initializer())
    if (inputs.contains(tensor.name())) {
      if (are_constant || tensor.data_type() == onnx::TensorProto::STRING)
        constants_.insert(tensor.name());
      else
        defaults_[tensor.name()] = &tensor;
    }
}

const onnx::TensorProto* DefaultInputs::find(const std::string& input) const {
  const auto tensor = defaults_.find(input);
  return tensor == defaults_.end() ? nullptr : tensor->second;
}

std::string DefaultInputs::warning(const std::vector<std::string>& inputs) {
  constexpr size_t kMostNames = 5;
  std::string list;
  for (size_t i = 0; i < std::min(inputs.size(), kMostNames); ++i)
    list += (i == 0 ? "" : ", ") + runtime::quoted(inputs[i]);
  if (inputs.size() > kMostNames)
    list += " and " + std::to_string(inputs.size() - kMostNames) + " more";
  return runtime::count_text(inputs.size(), "input") +
         " with an initializer can be set by calls: " + list + "; --freeze-inputs makes " +
         (inputs.size() == 1 ? "it a constant" : "them constants");
}

}  // namespace scopevm::compiler::frontend
