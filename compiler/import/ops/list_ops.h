// The ops of an ONNX model, and how the importer handles them.
#pragma once

#include <onnx/onnx_pb.h>

#include <vector>

#include "compiler/import/import.h"

namespace scopevm::compiler::frontend {

// The error of a node whose op has no handler, function or declaration.
Status not_supported(const onnx::NodeProto& node);

// See ModelFile::ops().
Result<std::vector<ModelOp>> list_ops(const onnx::ModelProto& model, const ImportOptions& options,
                                      mlir::MLIRContext& context);

// Adds the ops of the model that are not supported, if there are several, to the error of one.
Status with_unsupported_ops(Status error, const onnx::ModelProto& model,
                            const ImportOptions& options, mlir::MLIRContext& context);

}  // namespace scopevm::compiler::frontend
