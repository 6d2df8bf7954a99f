// A constant's elements with typed access: what constant folding computes on.
#pragma once

#include <memory>
#include <vector>

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

class ConstantArray {
 public:
  // Zeros. REQUIRES: the type is static, and not of texts.
  explicit ConstantArray(TensorType type);
  // The value of a constant. REQUIRES: not of strings.
  ConstantArray(mlir::ElementsAttr elements, DType dtype);
  explicit ConstantArray(ConstantOp op)
      : ConstantArray(op.getValue(), op.getResult().getType().getDtype()) {}

  DType dtype() const { return dtype_; }
  llvm::ArrayRef<int64_t> dims() const { return dims_; }
  int64_t count() const { return count_; }
  bool is_float() const { return scopevm::is_float(dtype_); }

  double real(int64_t i) const;
  int64_t integer(int64_t i) const;
  void set(int64_t i, double value);
  void set_integer(int64_t i, int64_t value);
  // this[i] = from[j], of the same element type.
  void copy(int64_t i, const ConstantArray& from, int64_t j);

  // Few elements as a dense attribute, more as a resource that owns them.
  mlir::ElementsAttr attribute(mlir::MLIRContext* context) const;

 private:
  DType dtype_;
  std::vector<int64_t> dims_;
  int64_t count_ = 1;
  const uint8_t* data_ = nullptr;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<std::vector<uint8_t>> owned_;  // only of those that are written
};

// The MLIR element type of constants of `dtype`.
mlir::Type element_type(mlir::MLIRContext* context, DType dtype);

// Elements as an attribute; `owner` keeps the bytes alive. Bools are one byte each.
mlir::ElementsAttr elements_attribute(mlir::MLIRContext* context, DType dtype,
                                      llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<char> bytes,
                                      std::shared_ptr<const void> owner, llvm::StringRef name);

// Texts as an attribute. REQUIRES: as many as the dims say.
mlir::ElementsAttr texts_attribute(mlir::MLIRContext* context, llvm::ArrayRef<int64_t> dims,
                                   llvm::ArrayRef<llvm::StringRef> texts);

}  // namespace scopevm::compiler::graph
