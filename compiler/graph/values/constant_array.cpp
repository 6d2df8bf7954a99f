// Constants as arrays: see constant_array.h.
#include "compiler/graph/values/constant_array.h"

#include <cstring>

#include "compiler/graph/values/elements.h"
#include "llvm/ADT/APFloat.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace scopevm::compiler::graph {
namespace {

// Constants of up to this many elements are dense attributes, which print as numbers.
constexpr int64_t kMaxDenseElements = 64;

template <typename T>
T load(const uint8_t* data, int64_t i) {
  T value;
  std::memcpy(&value, data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
void store(uint8_t* data, int64_t i, T value) {
  std::memcpy(data + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

const llvm::fltSemantics& half_semantics(DType dtype) {
  return dtype == DType::kF16 ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
}

double widen(uint16_t bits, DType dtype) {
  llvm::APFloat value(half_semantics(dtype), llvm::APInt(16, bits));
  bool loses = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return value.convertToDouble();
}

uint16_t narrow(double value, DType dtype) {
  llvm::APFloat wide(value);
  bool loses = false;
  wide.convert(half_semantics(dtype), llvm::APFloat::rmNearestTiesToEven, &loses);
  return static_cast<uint16_t>(wide.bitcastToAPInt().getZExtValue());
}

}  // namespace

ConstantArray::ConstantArray(TensorType type) : dtype_(type.getDtype()) {
  for (DimExpr dim : type.getShape()) {
    dims_.push_back(*dim.as_constant());
    count_ *= dims_.back();
  }
  owned_ = std::make_shared<std::vector<uint8_t>>(static_cast<size_t>(count_ * byte_size(dtype_)));
  owner_ = owned_;
  data_ = owned_->data();
}

ConstantArray::ConstantArray(mlir::ElementsAttr elements, DType dtype) : dtype_(dtype) {
  Constant constant = constant_of_elements(elements, dtype_);
  dims_.assign(constant.dims.begin(), constant.dims.end());
  for (int64_t dim : dims_) count_ *= dim;
  data_ = constant.data;
  owner_ = constant.owner;
}

double ConstantArray::real(int64_t i) const {
  switch (dtype_) {
    case DType::kF32:
      return load<float>(data_, i);
    case DType::kF64:
      return load<double>(data_, i);
    case DType::kF16:
    case DType::kBF16:
      return widen(load<uint16_t>(data_, i), dtype_);
    default:
      return static_cast<double>(integer(i));
  }
}

uint64_t ConstantArray::bits(int64_t i) const {
  const int64_t size = byte_size(dtype_);
  uint64_t bits = 0;
  std::memcpy(&bits, data_ + i * size, static_cast<size_t>(size));
  return bits;
}

int64_t ConstantArray::integer(int64_t i) const {
  switch (dtype_) {
    case DType::kBool:
    case DType::kU8:
      return load<uint8_t>(data_, i);
    case DType::kI8:
      return load<int8_t>(data_, i);
    case DType::kI16:
      return load<int16_t>(data_, i);
    case DType::kU16:
      return load<uint16_t>(data_, i);
    case DType::kI32:
      return load<int32_t>(data_, i);
    case DType::kU32:
      return load<uint32_t>(data_, i);
    case DType::kI64:
    // A u64 above INT64_MAX is returned as its bits.
    case DType::kU64:
      return load<int64_t>(data_, i);
    default:
      return 0;
  }
}

void ConstantArray::set(int64_t i, double value) {
  uint8_t* data = owned_->data();
  switch (dtype_) {
    case DType::kF32:
      return store(data, i, static_cast<float>(value));
    case DType::kF64:
      return store(data, i, value);
    default:
      return store(data, i, narrow(value, dtype_));
  }
}

void ConstantArray::set_integer(int64_t i, int64_t value) {
  uint8_t* data = owned_->data();
  // Signed and unsigned elements of one size have the same low bits, so truncation serves both.
  switch (byte_size(dtype_)) {
    case 1:
      return store(data, i, static_cast<int8_t>(value));
    case 2:
      return store(data, i, static_cast<int16_t>(value));
    case 4:
      return store(data, i, static_cast<int32_t>(value));
    default:
      return store(data, i, value);
  }
}

void ConstantArray::copy(int64_t i, const ConstantArray& from, int64_t j) {
  int64_t size = byte_size(dtype_);
  std::memcpy(owned_->data() + i * size, from.data_ + j * size, static_cast<size_t>(size));
}

mlir::ElementsAttr ConstantArray::attribute(mlir::MLIRContext* context) const {
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char*>(data_),
                             static_cast<size_t>(count_ * byte_size(dtype_)));
  return elements_attribute(context, dtype_, dims_, bytes, owner_, "folded");
}

mlir::Type element_type(mlir::MLIRContext* context, DType dtype) {
  mlir::Builder builder(context);
  switch (dtype) {
    case DType::kBool:
      return builder.getI1Type();
    case DType::kF16:
      return builder.getF16Type();
    case DType::kBF16:
      return builder.getBF16Type();
    case DType::kF32:
      return builder.getF32Type();
    case DType::kF64:
      return builder.getF64Type();
    case DType::kStr:
      return StringType::get(context);
    default: {
      unsigned width = static_cast<unsigned>(8 * byte_size(dtype));
      return is_unsigned(dtype) ? builder.getIntegerType(width, /*isSigned=*/false)
                                : builder.getIntegerType(width);
    }
  }
}

mlir::ElementsAttr elements_attribute(mlir::MLIRContext* context, DType dtype,
                                      llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<char> bytes,
                                      std::shared_ptr<const void> owner, llvm::StringRef name) {
  auto type = mlir::RankedTensorType::get(dims, element_type(context, dtype));
  // A resource refers to the bytes without a copy, for example to a mapped model file. Its deleter
  // holds `owner`, which therefore lives as long as the blob.
  if (type.getNumElements() > kMaxDenseElements) {
    mlir::AsmResourceBlob blob(
        bytes, static_cast<size_t>(byte_size(dtype)),
        [owner = std::move(owner)](void*, size_t, size_t) {},
        /*dataIsMutable=*/false);
    return mlir::DenseResourceElementsAttr::get(type, name.empty() ? "constant" : name,
                                                std::move(blob));
  }
  // MLIR packs the bits of i1 elements; tensors here use one byte per bool.
  if (dtype != DType::kBool) return mlir::DenseElementsAttr::getFromRawBuffer(type, bytes);
  llvm::SmallVector<bool> values;
  for (char byte : bytes) values.push_back(byte != 0);
  return mlir::DenseElementsAttr::get(type, values);
}

mlir::ElementsAttr strings_attribute(mlir::MLIRContext* context, llvm::ArrayRef<int64_t> dims,
                                     llvm::ArrayRef<llvm::StringRef> strings) {
  auto type = mlir::RankedTensorType::get(dims, StringType::get(context));
  return mlir::cast<mlir::ElementsAttr>(mlir::DenseElementsAttr::get(type, strings));
}

}  // namespace scopevm::compiler::graph
