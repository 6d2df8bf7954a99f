// ONNX types -> element types and list types.
#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>

#include "compiler/graph/graph_ops.h"
#include "scopevm/dtype.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// The element type of an ONNX type code; the carrier of a small type (small_types.h). No value if
// it is not supported, such as COMPLEX64.
std::optional<DType> dtype_of_onnx(int data_type);
// The name of an ONNX type code for messages, such as COMPLEX64; an unknown code as a number.
std::string onnx_type_name(int data_type);

// The type of a tensor, with those dims that are numbers. Empty for another value, and for null.
onnx::TypeProto type_proto(mlir::Value value);

// The type of a sequence or optional. Errors: kUnsupported for other types, and if the elements are
// not tensors of a supported element type.
Result<graph::ListType> list_type_of(mlir::MLIRContext& context, const onnx::TypeProto& proto);

}  // namespace scopevm::compiler::frontend
