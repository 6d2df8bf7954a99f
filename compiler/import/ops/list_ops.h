// The ops of an ONNX model, and how the importer handles them.
#pragma once

#include <onnx/onnx_pb.h>

#include <vector>

#include "compiler/import/import.h"

namespace scopevm::compiler::frontend {

// See ModelFile::ops().
Result<std::vector<ModelOp>> list_ops(const onnx::ModelProto& model, const ImportOptions& options,
                                      mlir::MLIRContext& context);

}  // namespace scopevm::compiler::frontend
