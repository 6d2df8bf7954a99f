#include "compiler/frontend/declared_types.h"

#include "compiler/frontend/constants.h"
#include "compiler/frontend/graph_importer.h"
#include "compiler/graph/type_rule.h"

namespace scopevm::compiler::frontend {

Contradiction contradiction(const onnx::TypeProto& declared, mlir::Type actual) {
  if (declared.value_case() == onnx::TypeProto::VALUE_NOT_SET) return Contradiction::kNone;
  if (!declared.has_tensor_type()) {
    const Result<graph::ListType> list = list_type_of(*actual.getContext(), declared);
    // Types that the compiler does not support, such as maps, are not compared.
    if (!list.ok()) return Contradiction::kNone;
    const auto type = mlir::dyn_cast<graph::ListType>(actual);
    return type && type.getKind() == list->getKind() && type.getDtype() == list->getDtype()
               ? Contradiction::kNone
               : Contradiction::kType;
  }
  const auto type = mlir::dyn_cast<graph::TensorType>(actual);
  if (!type) return Contradiction::kType;
  const onnx::TypeProto::Tensor& tensor = declared.tensor_type();
  if (tensor.elem_type() != onnx::TensorProto::UNDEFINED &&
      dtype_of_onnx(tensor.elem_type()) != type.getDtype())
    return Contradiction::kType;
  if (!tensor.has_shape()) return Contradiction::kNone;
  const auto& dims = tensor.shape().dim();
  if (static_cast<size_t>(dims.size()) != type.getShape().size()) return Contradiction::kDims;
  for (int i = 0; i < dims.size(); ++i)
    // Exporters write -1 for an unknown dim.
    if (dims[i].has_dim_value() && dims[i].dim_value() >= 0 &&
        !graph::may_be_equal(type.getShape()[static_cast<size_t>(i)], dims[i].dim_value()))
      return Contradiction::kDims;
  return Contradiction::kNone;
}

std::string text_of(mlir::MLIRContext& context, const onnx::TypeProto& declared) {
  if (!declared.has_tensor_type()) return graph::text_of(*list_type_of(context, declared));
  const onnx::TypeProto::Tensor& tensor = declared.tensor_type();
  const std::optional<DType> dtype = dtype_of_onnx(tensor.elem_type());
  std::string text = dtype ? std::string(name(*dtype)) : onnx_type_name(tensor.elem_type());
  if (!tensor.has_shape()) return text;
  text += "[";
  for (const auto& dim : tensor.shape().dim()) {
    if (text.back() != '[') text += ", ";
    if (dim.has_dim_value())
      text += std::to_string(dim.dim_value());
    else
      text += dim.dim_param().empty() ? "?" : dim.dim_param();
  }
  return text + "]";
}

}  // namespace scopevm::compiler::frontend
