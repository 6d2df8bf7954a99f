// Raw bytes of elements attributes: see elements.h.
#include "compiler/graph/values/elements.h"

#include <cstring>
#include <vector>

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

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

}  // namespace

Constant constant_of_elements(mlir::ElementsAttr elements, DType dtype) {
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

bool is_splat(mlir::ElementsAttr elements, DType dtype, uint64_t& scalar) {
  if (elements.getNumElements() == 0 || dtype == DType::kStr) return false;
  Constant constant = constant_of_elements(elements, dtype);
  int64_t size = byte_size(dtype);
  for (int64_t at = size; at < constant.bytes; at += size)
    // Bytes, not numbers, are compared: NaN equals itself, and 0.0 differs from -0.0.
    if (std::memcmp(constant.data, constant.data + at, size) != 0) return false;
  scalar = 0;
  std::memcpy(&scalar, constant.data, size);
  return true;
}

}  // namespace scopevm::compiler::graph
