// Raw bytes of elements attributes: see elements.h.
#include "compiler/graph/values/elements.h"

#include <cstring>
#include <vector>

#include "compiler/graph/graph_ops.h"
#include "compiler/graph/type_rule.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "runtime/count_text.h"
#include "runtime/tensor/small_type.h"

namespace scopevm::compiler::graph {
namespace {

Constant owned(Constant constant, std::vector<uint8_t> bytes) {
  auto owner = std::make_shared<std::vector<uint8_t>>(std::move(bytes));
  constant.data = owner->data();
  constant.bytes = static_cast<int64_t>(owner->size());
  constant.owner = std::move(owner);
  return constant;
}

// i1 elements are packed bits, and a splat stores one element: both are expanded.
std::vector<uint8_t> expand(mlir::DenseElementsAttr dense, DType dtype) {
  int64_t count = dense.getNumElements();
  int64_t size = byte_size(dtype);
  std::vector<uint8_t> bytes(static_cast<size_t>(count * size));
  if (dtype == DType::kBool) {
    int64_t i = 0;
    for (bool element : dense.getValues<bool>()) bytes[i++] = element;
    return bytes;
  }
  const char* raw = dense.getRawData().data();
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(&bytes[i * size], dense.isSplat() ? raw : raw + i * size, size);
  return bytes;
}

// The limit for the elements of a constant. The importer has the same limit for ONNX models.
constexpr int64_t kMaxElements = int64_t{1} << 40;

// The element count, or none if it exceeds kMaxElements.
std::optional<int64_t> count_of(mlir::ShapedType type) {
  int64_t count = 1;
  if (llvm::is_contained(type.getShape(), 0)) return 0;
  for (int64_t dim : type.getShape())
    if (__builtin_mul_overflow(count, dim, &count) || count > kMaxElements) return std::nullopt;
  return count;
}

}  // namespace

std::optional<DType> dtype_of(mlir::Type type) {
  if (mlir::isa<StringType>(type)) return DType::kStr;
  if (type.isF16()) return DType::kF16;
  if (type.isBF16()) return DType::kBF16;
  if (type.isF32()) return DType::kF32;
  if (type.isF64()) return DType::kF64;
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type);
  if (!integer) return std::nullopt;
  switch (integer.getWidth()) {
    case 1:
      return DType::kBool;
    case 8:
      return integer.isUnsigned() ? DType::kU8 : DType::kI8;
    case 16:
      return integer.isUnsigned() ? DType::kU16 : DType::kI16;
    case 32:
      return integer.isUnsigned() ? DType::kU32 : DType::kI32;
    case 64:
      return integer.isUnsigned() ? DType::kU64 : DType::kI64;
    default:
      return std::nullopt;
  }
}

std::string error_of_elements(mlir::ElementsAttr elements) {
  auto resource = mlir::dyn_cast<mlir::DenseResourceElementsAttr>(elements);
  if (!resource && !mlir::isa<mlir::DenseElementsAttr>(elements))
    return "expected a dense or dense_resource attribute";
  std::optional<int64_t> count = count_of(elements.getShapedType());
  if (!count) return "a constant has at most 2^40 elements";
  if (!resource) return "";
  if (!elements.getElementType().isIntOrFloat())
    return "a resource must contain integers or floats";
  const std::string name = "resource \"" + resource.getRawHandle().getKey().str() + "\"";
  const mlir::AsmResourceBlob* blob = resource.getRawHandle().getBlob();
  if (!blob) return name + " is not defined";
  // As in tensors, a bool has one byte.
  const int64_t size = (elements.getElementType().getIntOrFloatBitWidth() + 7) / 8;
  const auto given = static_cast<int64_t>(blob->getData().size());
  if (given == *count * size) return "";
  return name + " has " + runtime::count_text(given, "byte") + ", expected " +
         std::to_string(*count * size);
}

std::string error_of_default(mlir::Type argument, mlir::Attribute value) {
  const auto type = mlir::dyn_cast<TensorType>(argument);
  const auto elements = mlir::dyn_cast<mlir::ElementsAttr>(value);
  if (!type || type.getDtype() == DType::kStr)
    return "an argument of type " + text_of(argument) + " cannot have a default";
  if (!elements) return "expected a dense or dense_resource attribute";
  if (std::string error = error_of_elements(elements); !error.empty()) return error;
  const llvm::ArrayRef<int64_t> dims = elements.getShapedType().getShape();
  const runtime::SmallType* small = runtime::small_type(type.getDtype());
  bool fits = dtype_of(elements.getElementType()) == (small ? small->carrier : type.getDtype()) &&
              static_cast<int64_t>(dims.size()) == type.getRank();
  for (size_t axis = 0; fits && axis < dims.size(); ++axis)
    fits = type.getShape()[axis].as_constant().value_or(dims[axis]) == dims[axis];
  if (!fits) return "has type " + text_of(elements.getShapedType()) + ", expected " + text_of(type);
  if (!small) return "";
  const Constant wide = constant_of_elements(elements, small->carrier);
  const bool are_small =
      runtime::narrowed(*small, wide.data, elements.getNumElements()).has_value();
  return are_small ? "" : "has an element that is not one of " + text_of(type);
}

Constant constant_of_elements(mlir::ElementsAttr elements, DType dtype) {
  if (const runtime::SmallType* small = runtime::small_type(dtype)) {
    Constant constant = constant_of_elements(elements, small->carrier);
    constant.dtype = dtype;
    // error_of_default() has checked the elements.
    std::optional<std::vector<uint8_t>> packed =
        runtime::narrowed(*small, constant.data, elements.getNumElements());
    return owned(std::move(constant), std::move(packed).value_or(std::vector<uint8_t>()));
  }
  Constant constant{.dtype = dtype};
  constant.dims.assign(elements.getShapedType().getShape().begin(),
                       elements.getShapedType().getShape().end());
  if (auto resource = mlir::dyn_cast<mlir::DenseResourceElementsAttr>(elements)) {
    // Not copied: the context owns the blob, and outlives the result.
    llvm::ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
    constant.data = reinterpret_cast<const uint8_t*>(data.data());
    constant.bytes = static_cast<int64_t>(data.size());
    return constant;
  }
  auto dense = mlir::cast<mlir::DenseElementsAttr>(elements);
  if (dense.isSplat() || dtype == DType::kBool)
    return owned(std::move(constant), expand(dense, dtype));
  constant.data = reinterpret_cast<const uint8_t*>(dense.getRawData().data());
  constant.bytes = static_cast<int64_t>(dense.getRawData().size());
  return constant;
}

std::optional<uint64_t> splat_bits(mlir::ElementsAttr elements, DType dtype) {
  if (elements.getNumElements() == 0 || dtype == DType::kStr) return std::nullopt;
  const int64_t size = byte_size(dtype);
  uint64_t scalar = 0;
  if (auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(elements); dense && dense.isSplat()) {
    // Not expanded, because the tensor can be larger than the memory.
    if (dtype == DType::kBool)
      scalar = dense.getSplatValue<bool>() ? 1 : 0;
    else
      std::memcpy(&scalar, dense.getRawData().data(), size);
    return scalar;
  }
  Constant constant = constant_of_elements(elements, dtype);
  for (int64_t at = size; at < constant.bytes; at += size)
    // Bytes, not numbers, are compared: NaN equals itself, and 0.0 differs from -0.0.
    if (std::memcmp(constant.data, constant.data + at, size) != 0) return std::nullopt;
  std::memcpy(&scalar, constant.data, size);
  return scalar;
}

std::optional<uint64_t> splat_bits(mlir::Operation* op) {
  auto constant = mlir::dyn_cast_or_null<ConstantOp>(op);
  if (!constant) return std::nullopt;
  return splat_bits(constant.getValue(), type_of(constant.getResult()).getDtype());
}

}  // namespace scopevm::compiler::graph
