// Whether a model needs random numbers.
#pragma once

#include <onnx/onnx_pb.h>

namespace scopevm::compiler::frontend {

// True if the model, an inner graph of it or a function of it contains a random operator. A Dropout
// is one unless its mode is that of inference, for every request.
bool has_random_ops(const onnx::ModelProto& model);

}  // namespace scopevm::compiler::frontend
