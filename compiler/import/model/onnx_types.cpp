// Type codes and list types; see onnx_types.h.
#include "compiler/import/model/onnx_types.h"

#include "compiler/import/model/small_types.h"

namespace scopevm::compiler::frontend {

std::optional<DType> dtype_of_onnx(int data_type) {
  switch (data_type) {
    case onnx::TensorProto::FLOAT:
      return DType::kF32;
    case onnx::TensorProto::UINT8:
      return DType::kU8;
    case onnx::TensorProto::INT8:
      return DType::kI8;
    case onnx::TensorProto::UINT16:
      return DType::kU16;
    case onnx::TensorProto::INT16:
      return DType::kI16;
    case onnx::TensorProto::INT32:
      return DType::kI32;
    case onnx::TensorProto::INT64:
      return DType::kI64;
    case onnx::TensorProto::BOOL:
      return DType::kBool;
    case onnx::TensorProto::FLOAT16:
      return DType::kF16;
    case onnx::TensorProto::DOUBLE:
      return DType::kF64;
    case onnx::TensorProto::UINT32:
      return DType::kU32;
    case onnx::TensorProto::UINT64:
      return DType::kU64;
    case onnx::TensorProto::BFLOAT16:
      return DType::kBF16;
    case onnx::TensorProto::STRING:
      return DType::kStr;
    default:
      break;
  }
  const SmallType* small = small_type(data_type);
  return small ? std::optional(small->carrier) : std::nullopt;
}

std::string onnx_type_name(int data_type) {
  std::string name =
      onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(data_type));
  return name.empty() ? std::to_string(data_type) : name;
}

Result<graph::ListType> list_type_of(mlir::MLIRContext& context, const onnx::TypeProto& proto) {
  const onnx::TypeProto* element = &proto;
  bool is_optional = element->has_optional_type();
  if (is_optional) element = &element->optional_type().elem_type();
  bool is_sequence = element->has_sequence_type();
  if (is_sequence) element = &element->sequence_type().elem_type();
  ValueKind kind = !is_optional  ? ValueKind::kSequence
                   : is_sequence ? ValueKind::kOptionalSequence
                                 : ValueKind::kOptional;
  if (!element->has_tensor_type() || (!is_optional && !is_sequence))
    return Status(StatusCode::kUnsupported,
                  "only sequences and optionals of tensors are supported");
  auto dtype = dtype_of_onnx(element->tensor_type().elem_type());
  if (!dtype)
    return Status(
        StatusCode::kUnsupported,
        "element type " + onnx_type_name(element->tensor_type().elem_type()) + " is not supported");
  llvm::SmallVector<DimExpr> shape;
  for (const auto& dim : element->tensor_type().shape().dim()) {
    bool is_known = dim.has_dim_value() && dim.dim_value() >= 0;
    // Named dims are not known either: the elements of a sequence may differ in them.
    shape.push_back(is_known ? dim.dim_value() : graph::kAnyDim);
  }
  graph::ElementDims dims =
      element->tensor_type().has_shape() ? graph::ElementDims::kShape : graph::ElementDims::kAny;
  return graph::ListType::get(&context, kind, *dtype, dims, shape);
}

namespace {

int onnx_code(DType dtype) {
  for (int code = 1; code < 32; ++code)
    if (dtype_of_onnx(code) == dtype) return code;
  return 0;
}

}  // namespace

onnx::TypeProto type_proto(mlir::Value value) {
  onnx::TypeProto proto;
  if (!value || !mlir::isa<graph::TensorType>(value.getType())) return proto;
  auto type = mlir::cast<graph::TensorType>(value.getType());
  proto.mutable_tensor_type()->set_elem_type(onnx_code(type.getDtype()));
  auto* shape = proto.mutable_tensor_type()->mutable_shape();
  for (DimExpr dim : type.getShape()) {
    auto* to = shape->add_dim();
    if (auto constant = dim.as_constant()) to->set_dim_value(*constant);
  }
  return proto;
}

}  // namespace scopevm::compiler::frontend
