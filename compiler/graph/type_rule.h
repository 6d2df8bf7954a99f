// Type rules of the graph ops: operand types and attributes -> result types. An op's rule is its
// static method `infer`, in the folder of its family; this header declares the functions that the
// rules share. On failure a rule reports an error; a malformed graph never aborts the process.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

// The element types that an operand accepts.
enum class ElementTypes : uint8_t {
  kAny,      // all types but the small ones (is_small)
  kNumeric,  // bool, integers and floats; not str, whose elements are string ids
  kNumber,   // integers and floats
  kFloat,
  kInteger,
  kU64,
  kBool,
  kString,
  kSmall,
  kStored,  // all types but str
};

// The element type of this name, among those that ops compute with. No value for another text, and
// for a small type.
std::optional<DType> computed_dtype(llvm::StringRef name);

// The op whose types are being inferred, and the result types so far.
struct TypeRule {
  mlir::MLIRContext* context;
  std::optional<mlir::Location> location;
  llvm::StringRef op;
  llvm::SmallVectorImpl<mlir::Type>& types;

  // Fails unless `accepted` contains the element type of each operand. The last entry of `accepted`
  // applies to all further operands.
  llvm::LogicalResult check_elements(mlir::ValueRange operands,
                                     llvm::ArrayRef<ElementTypes> accepted) const;
  // Fails unless a list attribute has `expected` entries. `noun` is the attribute's name in the
  // singular, and `reason` ends the message.
  llvm::LogicalResult check_count(size_t count, llvm::StringRef noun, size_t expected,
                                  const llvm::Twine& reason = "") const;
  // Appends a result type. Fails if a dim is negative in every request.
  llvm::LogicalResult add_result(DType dtype, llvm::ArrayRef<DimExpr> shape);
  // Reports "op: message" at the location, if there is one, and fails.
  llvm::LogicalResult fail(const llvm::Twine& message) const;
};

// Sets the types of the op's results to those of its type rule, after a change of its operands or
// attributes. REQUIRES: the op has the interface InferTypeOpInterface.
llvm::LogicalResult infer_results(mlir::Operation* op);

TensorType tensor_type(mlir::Value value);
bool is_axis(TensorType x, int64_t axis);
// True if the dim is one of the symbols, which are strings.
bool is_among(DimExpr dim, mlir::ArrayAttr symbols);

// A type in textual form, for messages.
std::string text_of(mlir::Type type);

// True if all types are tensors whose element types and shapes are pairwise equal. Places are
// ignored, because type rules do not compute them.
bool equal_but_for_place(mlir::TypeRange a, mlir::TypeRange b);

// False if the facts about the symbols prove that the dims differ in every request.
bool may_be_equal(DimExpr a, DimExpr b);

// The dim that results from broadcasting two dims, which must be equal unless one is 1. If only
// some requests satisfy this, each request is checked. Empty if no request can satisfy it. The
// result is the constant operand other than 1, if any. Otherwise it is a formula for the maximum of
// both, or for 0 in requests in which one of them is 0.
std::optional<DimExpr> broadcast_dim(DimExpr a, DimExpr b);
// Whether the result of broadcast_dim() is wrong if the larger dim is 1 and the other one is 0.
// Such requests must then be refused.
bool refuses_one_and_zero(DimExpr a, DimExpr b);
// NumPy broadcasting, aligned at the last dim. Empty if the shapes do not broadcast.
std::optional<llvm::SmallVector<DimExpr>> broadcast_shapes(llvm::ArrayRef<DimExpr> a,
                                                           llvm::ArrayRef<DimExpr> b);

// The broadcast shape of all operands; reports an error if there is none.
std::optional<llvm::SmallVector<DimExpr>> common_shape(TypeRule& rule, mlir::ValueRange operands);
llvm::LogicalResult check_same_dtype(TypeRule& rule, mlir::ValueRange operands);
// Fails unless `axis` is in [0, rank of x).
llvm::LogicalResult check_axis(TypeRule& rule, TensorType x, int64_t axis);

// --- Rules shared by several ops. ---------------------------------------------------------------

// The operands have one element type and broadcast. The result has that element type.
llvm::LogicalResult infer_elementwise(TypeRule& rule, mlir::ValueRange operands);
// As infer_elementwise, with a bool result.
llvm::LogicalResult infer_comparison(TypeRule& rule, mlir::ValueRange operands);
// The result has the type of x.
llvm::LogicalResult infer_same(TypeRule& rule, mlir::Value x);

}  // namespace scopevm::compiler::graph
