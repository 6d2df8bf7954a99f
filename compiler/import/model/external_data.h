// Tensor elements in files next to an ONNX model.
#pragma once

#include <string>

#include "compiler/import/model/onnx_file.h"

namespace scopevm::compiler::frontend {

// Maps the external data of `tensor` of `file`, and adds the location to OnnxFile::data_files.
// `bytes` has the type, the dims and the size. The location is relative to the model's folder.
// Errors: kInvalidModel.
Result<TensorBytes> external_bytes(const onnx::TensorProto& tensor, TensorBytes bytes,
                                   OnnxFile& file);

}  // namespace scopevm::compiler::frontend
