// The inputs of an ONNX model that have initializers. Most are inputs of the module, and the
// initializer is their value in calls that do not set them. The others are constants.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace scopevm::compiler::frontend {

class DefaultInputs {
 public:
  // `freeze`: CompileOptions::freeze_inputs. REQUIRES: the model outlives the object.
  DefaultInputs(const onnx::ModelProto& model, bool freeze);

  // The default of the input. Null if it has none, or if it is a constant.
  const onnx::TensorProto* find(const std::string& input) const;
  // True with `freeze`, before IR version 4, in which each initializer is also listed as an input,
  // and for strings.
  bool is_constant(const std::string& input) const { return constants_.contains(input); }

  // The warning about these inputs.
  static std::string warning(const std::vector<std::string>& inputs);

 private:
  std::map<std::string, const onnx::TensorProto*> defaults_;
  std::set<std::string> constants_;
};

}  // namespace scopevm::compiler::frontend
