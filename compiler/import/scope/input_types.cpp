// Symbols for the dims of inputs; see input_types.h.
#include "compiler/import/scope/input_types.h"

#include "compiler/import/model/onnx_types.h"
#include "compiler/import/model/small_types.h"
#include "compiler/import/scope/declared_types.h"
#include "compiler/import/scope/dim_names.h"

namespace scopevm::compiler::frontend {
namespace {

Status unsupported(const std::string& message) { return Status(StatusCode::kUnsupported, message); }

// Names that start with '$' are those of symbols that are defined at run time.
std::string symbol_of(const std::string& name) {
  return symbol_kind(name) == SymbolKind::kDimension ? name : "_" + name;
}

}  // namespace

InputTypes::InputTypes(const onnx::GraphProto& graph, const std::map<std::string, DimBound>& bounds)
    : bounds_(bounds) {
  for (const auto& input : graph.input())
    for (const auto& dim : input.type().tensor_type().shape().dim())
      if (!dim.dim_param().empty()) declared_.insert(dim.dim_param());
}

DimExpr InputTypes::named(const std::string& name) {
  if (auto expression =
          dim_expression(name, declared_, [&](const std::string& part) { return named(part); }))
    return *expression;
  const std::string symbol = symbol_of(name);
  names_.insert(symbol);
  return named_dim(symbol, bounds_);
}

DimExpr InputTypes::unnamed(const std::string& input, size_t axis) {
  const std::string name = symbol_of(input + "_d" + std::to_string(axis));
  // The name must differ from all names of the model, also from those of later inputs.
  std::string candidate = name;
  for (int suffix = 2; declared_.contains(candidate) || !names_.insert(candidate).second; ++suffix)
    candidate = name + "_" + std::to_string(suffix);
  return named_dim(candidate, bounds_);
}

Result<mlir::Type> InputTypes::type_of(const onnx::ValueInfoProto& input,
                                       mlir::MLIRContext& context) {
  if (input.type().has_sequence_type() || input.type().has_optional_type()) {
    SCOPEVM_ASSIGN_OR_RETURN(graph::ListType list, list_type_of(context, input.type()));
    return mlir::Type(list);
  }
  if (!input.has_type() || !input.type().has_tensor_type())
    return unsupported("only tensors, sequences and optionals are supported as inputs");
  const auto& tensor = input.type().tensor_type();
  std::optional<DType> dtype = dtype_of_onnx(tensor.elem_type());
  if (!dtype)
    return unsupported("element type " + onnx_type_name(tensor.elem_type()) + " is not supported");
  if (!tensor.has_shape())
    return unsupported("its rank is unknown: the declared type has no shape");
  llvm::SmallVector<DimExpr> shape;
  for (const auto& dim : tensor.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      shape.push_back(dim.dim_value());
    else if (!dim.dim_param().empty())
      shape.push_back(named(dim.dim_param()));
    else
      shape.push_back(unnamed(input.name(), shape.size()));
  }
  const SmallType* small = small_type(tensor.elem_type());
  return mlir::Type(graph::TensorType::get(&context, small ? small->dtype : *dtype, shape));
}

Status InputTypes::check_bounds(bool has_states) const {
  return check_dim_names(bounds_, names_, has_states);
}

}  // namespace scopevm::compiler::frontend
