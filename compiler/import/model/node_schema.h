// The definitions of the ops of the ONNX standard: libonnx's, and those that libonnx lacks.
#pragma once

#include <onnx/onnx_pb.h>

#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// Checks that `node`, of the standard domain, has all required inputs, and no input and no
// attribute that its op does not have at `opset`. The handler checks the types of attributes. A
// node of an unknown op is valid. Errors: kInvalidModel.
Status check_schema(const onnx::NodeProto& node, int opset);

}  // namespace scopevm::compiler::frontend
