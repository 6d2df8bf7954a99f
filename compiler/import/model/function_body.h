// The bodies of ONNX ops that are defined as functions of other ops.
#pragma once

#include <onnx/onnx_pb.h>

#include <memory>
#include <vector>

namespace scopevm::compiler::frontend {

// The function of the model that `node` calls; null if it calls none.
const onnx::FunctionProto* find_model_function(const onnx::ModelProto& model,
                                               const onnx::NodeProto& node);

// The body of `node` at `opset`: the model's own function, or the one that ONNX defines for the op.
// References to attributes are replaced by the attributes of `node`. Null if the op has no body, or
// none for these types, or if libonnx throws an exception. `input_types` has one entry for each
// input; the entry of an absent input is empty.
std::unique_ptr<onnx::FunctionProto> function_body(const onnx::ModelProto& model,
                                                   const onnx::NodeProto& node, int opset,
                                                   const std::vector<onnx::TypeProto>& input_types);

// Whether ONNX defines a body of the op that depends on the types of the inputs.
bool has_typed_body(const onnx::NodeProto& node, int opset);

}  // namespace scopevm::compiler::frontend
