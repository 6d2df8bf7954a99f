// Nodes against the definitions of their ops: libonnx's, and those of the op table.
#pragma once

#include <onnx/onnx_pb.h>

#include "compiler/import/ops/op_table.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// Checks that `node` has all required inputs, and no input and no attribute that its op does not
// have at `opset`. The handler checks the types of attributes. `row` is the op's row at `opset`, or
// null. A node of an op without a definition is valid. Errors: kInvalidModel.
Status check_schema(const onnx::NodeProto& node, int opset, const OpRow* row);

}  // namespace scopevm::compiler::frontend
