// An ONNX file -> its ModelProto, with the data of its tensors within reach.
#pragma once

#include <onnx/onnx_pb.h>

#include <memory>
#include <string>
#include <vector>

#include "scopevm/dtype.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

struct OnnxFile {
  onnx::ModelProto model;
  std::string folder;  // external data files are relative to it
  // Bodies that were put in place of nodes: their tensors are shared like the model's.
  std::vector<std::unique_ptr<onnx::FunctionProto>> bodies;
};

Result<std::shared_ptr<OnnxFile>> read_onnx_file(const std::string& path);

// A tensor's elements: row-major bytes, bool as one byte each, kept alive by `owner`; or texts.
struct TensorBytes {
  DType dtype;
  std::vector<int64_t> dims;
  const char* data;
  size_t size;
  std::shared_ptr<const void> owner;
  std::vector<std::string> texts;  // of str, instead of bytes
};

// The bytes of a tensor of `file`: shared with it where the layout allows. External data is mapped
// from the model's folder; a location outside it is an error.
Result<TensorBytes> tensor_bytes(const onnx::TensorProto& tensor,
                                 const std::shared_ptr<OnnxFile>& file);

// The element type of an ONNX code, or empty (complex numbers).
std::optional<DType> dtype_of_onnx(int data_type);

}  // namespace scopevm::compiler::frontend
