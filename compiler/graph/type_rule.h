// Type rules of the graph ops: operand types and attributes -> result types. An op's rule is its
// static method `infer`, in the folder of its family; this header declares the functions that the
// rules share. On failure a rule reports the error with the operand types. A malformed graph never
// aborts the process.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

// The op whose types are being inferred, and the result types so far.
struct TypeRule {
  mlir::MLIRContext* context;
  std::optional<mlir::Location> location;
  llvm::StringRef op;
  llvm::SmallVectorImpl<mlir::Type>& types;

  // Fails if an operand is a string tensor and its bit in `admitted` is not set. Operand i has bit
  // i, and all operands from 7 on have bit 7.
  llvm::LogicalResult check_strings(mlir::ValueRange operands, unsigned admitted) const;
  // Appends a result type.
  llvm::LogicalResult add_result(DType dtype, llvm::ArrayRef<DimExpr> shape);
  // Reports "op: message" at the location, if there is one, and fails.
  llvm::LogicalResult fail(const llvm::Twine& message) const;
};

TensorType tensor_type(mlir::Value value);
bool is_axis(TensorType x, int64_t axis);

// A type in textual form, for messages.
std::string text_of(mlir::Type type);

// Element types and shapes are pairwise equal. Places are ignored; the placement stage sets them.
bool equal_but_for_place(mlir::TypeRange a, mlir::TypeRange b);

// False if the facts about the symbols prove that the dims differ in every request.
bool may_be_equal(DimExpr a, DimExpr b);

// The dim that results from broadcasting two dims, which must be equal unless one is 1. If only
// some requests satisfy this, each request is checked. Empty if no request can satisfy it. The
// result is the constant operand other than 1, if any. Otherwise it is a formula for the maximum of
// both, or for 0 if one of them may be 0.
std::optional<DimExpr> broadcast_dim(DimExpr a, DimExpr b);
// NumPy broadcasting, aligned at the last dim. Empty if the shapes do not broadcast.
std::optional<llvm::SmallVector<DimExpr>> broadcast_shapes(llvm::ArrayRef<DimExpr> a,
                                                           llvm::ArrayRef<DimExpr> b);

// The broadcast shape of all operands; reports an error if there is none.
std::optional<llvm::SmallVector<DimExpr>> common_shape(TypeRule& rule, mlir::ValueRange operands);
llvm::LogicalResult check_same_dtype(TypeRule& rule, mlir::ValueRange operands);

// --- Rules shared by several ops. ---------------------------------------------------------------

// For operands of one element type, which broadcast. The result has that type.
llvm::LogicalResult infer_elementwise(TypeRule& rule, mlir::ValueRange operands);
// As infer_elementwise, with a bool result.
llvm::LogicalResult infer_comparison(TypeRule& rule, mlir::ValueRange operands);
// The result has the type of x.
llvm::LogicalResult infer_same(TypeRule& rule, mlir::Value x);

}  // namespace scopevm::compiler::graph
