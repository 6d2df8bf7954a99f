// Type rules of the graph ops: from operand types and attributes to result types. An op's rule is
// its static method `infer`, in the folder of its family; here is what rules share. A rule reports
// what is wrong, with the operands' types, and fails; it never aborts on a bad graph.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

// The op whose types are inferred, and its result types so far.
struct TypeRule {
  mlir::MLIRContext* context;
  std::optional<mlir::Location> location;
  llvm::StringRef op;
  llvm::SmallVectorImpl<mlir::Type>& types;

  // Fails where an operand of strings is not among `admitted`: a bit for each operand, bit 7 for
  // all after the seventh.
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

// Element types and shapes agree, one by one. Places are the placement stage's to give.
bool equal_but_for_place(mlir::TypeRange a, mlir::TypeRange b);

// False where no request makes them equal, as far as the facts about their symbols tell.
bool may_be_equal(DimExpr a, DimExpr b);

// Two dims broadcast: equal, or one is 1, or both are symbolic (then the result is their maximum
// and the request is checked: equal, or one of them 1). Empty when no request makes them so.
std::optional<DimExpr> broadcast_dim(DimExpr a, DimExpr b);
// Shapes broadcast as NumPy does, aligned at the last dim. Empty when they do not.
std::optional<llvm::SmallVector<DimExpr>> broadcast_shapes(llvm::ArrayRef<DimExpr> a,
                                                           llvm::ArrayRef<DimExpr> b);

// The broadcast shape of all operands; reports and fails where there is none.
std::optional<llvm::SmallVector<DimExpr>> common_shape(TypeRule& rule, mlir::ValueRange operands);
llvm::LogicalResult check_same_dtype(TypeRule& rule, mlir::ValueRange operands);

// --- Rules that several ops share. ---------------------------------------------------------------

// Operands of one element type, broadcast.
llvm::LogicalResult infer_elementwise(TypeRule& rule, mlir::ValueRange operands);
// The same, to bool.
llvm::LogicalResult infer_comparison(TypeRule& rule, mlir::ValueRange operands);
// The type of x.
llvm::LogicalResult infer_same(TypeRule& rule, mlir::Value x);

}  // namespace scopevm::compiler::graph
