// Typed access to a constant's elements, for constant folding.
#pragma once

#include <memory>
#include <vector>

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

class ConstantArray {
 public:
  // Initialised to zeros. REQUIRES: the type is static and not a string type.
  explicit ConstantArray(TensorType type);
  // The elements of a constant. REQUIRES: `dtype` is not str.
  ConstantArray(mlir::ElementsAttr elements, DType dtype);
  explicit ConstantArray(ConstantOp op)
      : ConstantArray(op.getValue(), op.getResult().getType().getDtype()) {}

  DType dtype() const { return dtype_; }
  llvm::ArrayRef<int64_t> dims() const { return dims_; }
  int64_t count() const { return count_; }
  bool is_float() const { return scopevm::is_float(dtype_); }

  // Element i. integer() returns a u64 above INT64_MAX as the i64 with the same bits, and 0 for a
  // float.
  double real(int64_t i) const;
  int64_t integer(int64_t i) const;
  // The bytes of element i, in the lowest bits.
  uint64_t bits(int64_t i) const;
  // Set element i. set() is for float types, and rounds the value to the element type.
  // set_integer() is for all other types, and stores the low bits of the value. REQUIRES: the array
  // was made from a type.
  void set(int64_t i, double value);
  void set_integer(int64_t i, int64_t value);
  // this[i] = from[j]. REQUIRES: this array was made from a type, and both have the same element
  // type.
  void copy(int64_t i, const ConstantArray& from, int64_t j);

  // A dense attribute for few elements, otherwise a resource that owns them.
  mlir::ElementsAttr attribute(mlir::MLIRContext* context) const;

 private:
  DType dtype_;
  std::vector<int64_t> dims_;
  int64_t count_ = 1;
  const uint8_t* data_ = nullptr;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<std::vector<uint8_t>> owned_;  // only in arrays that are written
};

// The MLIR element type of constants of `dtype`.
mlir::Type element_type(mlir::MLIRContext* context, DType dtype);

// An attribute with the row-major elements in `bytes`, one byte per bool. A large constant becomes
// a resource named `name` that refers to the bytes, which `owner` keeps alive.
mlir::ElementsAttr elements_attribute(mlir::MLIRContext* context, DType dtype,
                                      llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<char> bytes,
                                      std::shared_ptr<const void> owner, llvm::StringRef name);

// An attribute of shape `dims` with the given strings. REQUIRES: one string per element.
mlir::ElementsAttr strings_attribute(mlir::MLIRContext* context, llvm::ArrayRef<int64_t> dims,
                                     llvm::ArrayRef<llvm::StringRef> strings);

}  // namespace scopevm::compiler::graph
