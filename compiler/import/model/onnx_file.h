// An ONNX file -> its ModelProto, with access to tensor data.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "scopevm/dtype.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

struct OnnxFile {
  onnx::ModelProto model;
  std::string folder;  // base of relative external-data paths
  // Imported function bodies. Constants of the graph can share the bytes of their tensors.
  std::vector<std::unique_ptr<onnx::FunctionProto>> bodies;
  std::set<std::string> data_files;  // with external data that was mapped; relative to `folder`
};

// `bytes`: those of the file, if they are known. Errors: kNotFound (the file cannot be opened),
// kInvalidModel (not an ONNX model).
Result<std::shared_ptr<OnnxFile>> read_onnx_file(
    const std::string& path, const std::optional<std::span<const uint8_t>>& bytes);

// The name of a node, or "OP_POSITION" for a node without one. `index` is its position in its
// graph.
inline std::string node_label(const onnx::NodeProto& node, size_t index) {
  return node.name().empty() ? node.op_type() + "_" + std::to_string(index) : node.name();
}

// The elements of a tensor, in row-major order. Except for strings, they are bytes that `owner`
// keeps alive; a bool is one byte.
struct TensorBytes {
  DType dtype;
  std::vector<int64_t> dims;
  const char* data;
  size_t size;
  std::shared_ptr<const void> owner;
  std::vector<std::string> strings;  // for str, instead of bytes
};

// The elements of a tensor of `file`, those of a small type as elements of its carrier. Raw data is
// shared with the file, and typed data is copied. External data is mapped from the model's folder;
// a path outside that folder is an error. Errors: kUnsupported (the element type), kInvalidModel.
Result<TensorBytes> tensor_bytes(const onnx::TensorProto& tensor,
                                 const std::shared_ptr<OnnxFile>& file);

}  // namespace scopevm::compiler::frontend
