// Comparison of declared types; see declared_types.h.
#include "compiler/import/scope/declared_types.h"

#include "compiler/graph/type_rule.h"
#include "compiler/import/model/onnx_types.h"

namespace scopevm::compiler::frontend {

namespace {

enum class Contradiction {
  kNone,
  kDims,  // the ranks differ, or two dims that cannot be equal
  kType,  // the element types differ, or one is a tensor and the other one a list
};

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

// `f32[n, 4]`, with `?` for a dim without value and name, and `f32` for an unknown rank;
// `sequence f32`. REQUIRES: contradiction(declared, ...) is not kNone.
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

// True if the value is an optional that a loop or a branch carries. The import makes such a value
// an optional if it is one in any iteration or branch; ONNX models declare its element.
bool is_widened(mlir::Value value) {
  const auto list = mlir::dyn_cast<graph::ListType>(value.getType());
  mlir::Operation* op = value.getDefiningOp();
  return list && is_optional(list.getKind()) && (!op || op->getNumRegions() > 0);
}

}  // namespace

void DeclaredTypes::check(const char* kind, const onnx::ValueInfoProto& declared,
                          const Scope& scope) {
  const mlir::Value value = scope.find(declared.name());
  if (!value || is_widened(value)) return;
  const Contradiction kept = frontend::contradiction(declared.type(), value.getType());
  if (kept == Contradiction::kNone) return;
  const std::string message = std::string(kind) + " \"" + declared.name() + "\" is declared as " +
                              text_of(*value.getContext(), declared.type()) + ", but is " +
                              graph::text_of(value.getType());
  if (kept == Contradiction::kDims)
    warnings_.push_back(message);
  else if (contradiction_.ok())
    contradiction_ = Status(StatusCode::kInvalidModel, message);
}

void DeclaredTypes::check(const onnx::GraphProto& graph, const Scope& scope) {
  // The declared types of the inputs of `main` define its arguments.
  for (const auto& input : graph.input()) check("input", input, scope);
  for (const auto& value : graph.value_info()) check("value", value, scope);
  for (const auto& output : graph.output()) check("output", output, scope);
}

}  // namespace scopevm::compiler::frontend
