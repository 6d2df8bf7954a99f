// ONNX ops that are functions of other ops: their bodies, ready to be imported in the op's place.
#pragma once

#include <onnx/onnx_pb.h>

#include <memory>
#include <vector>

namespace scopevm::compiler::frontend {

// The body of `node` as of `opset`: of the model's own function, or of the one that ONNX defines
// for the op. The node's attributes stand where the body refers to them. Null when the op has no
// body, or none for these types. `input_types` are those of the node's inputs; absent ones are
// empty.
std::unique_ptr<onnx::FunctionProto> function_body(const onnx::ModelProto& model,
                                                   const onnx::NodeProto& node, int opset,
                                                   const std::vector<onnx::TypeProto>& input_types);

}  // namespace scopevm::compiler::frontend
