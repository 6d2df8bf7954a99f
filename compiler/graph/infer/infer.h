// Type rules of the graph ops: from operand types and attributes to result types. Each rule reports
// what is wrong, with the operands' types, and fails; it never aborts on a bad graph.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

// What a rule gets and fills.
struct TypeRule {
  mlir::MLIRContext* context;
  std::optional<mlir::Location> location;
  llvm::StringRef op;
  llvm::SmallVectorImpl<mlir::Type>& types;

  // Fails where the op has an operand of texts that it does not take.
  llvm::LogicalResult check_texts(mlir::ValueRange operands) const;
  // Reports "op: message" at the location, if there is one, and fails.
  llvm::LogicalResult fail(const llvm::Twine& message) const;
};

// A type as graph text, for messages.
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

llvm::LogicalResult inferElementwise(TypeRule& rule, mlir::ValueRange operands);
llvm::LogicalResult inferComparison(TypeRule& rule, mlir::ValueRange operands);
llvm::LogicalResult inferPow(TypeRule& rule, mlir::ValueRange operands);
llvm::LogicalResult inferSelect(TypeRule& rule, mlir::ValueRange operands);
llvm::LogicalResult inferSame(TypeRule& rule, mlir::Value x);
llvm::LogicalResult inferCast(TypeRule& rule, mlir::Value x, llvm::StringRef to);
llvm::LogicalResult inferReduce(TypeRule& rule, mlir::Value x, llvm::ArrayRef<int64_t> axes,
                                bool keep_dims);
llvm::LogicalResult inferArgReduce(TypeRule& rule, mlir::Value x, int64_t axis, bool keep_dims);
llvm::LogicalResult inferMatMul(TypeRule& rule, mlir::Value a, mlir::Value b, bool transpose_a,
                                bool transpose_b);
llvm::LogicalResult inferConv(TypeRule& rule, ConvOp::Adaptor op);
llvm::LogicalResult inferConvTranspose(TypeRule& rule, ConvTransposeOp::Adaptor op);
llvm::LogicalResult inferPool(TypeRule& rule, MaxPoolOp::Adaptor op);
llvm::LogicalResult inferPool(TypeRule& rule, AveragePoolOp::Adaptor op);
llvm::LogicalResult inferPool(TypeRule& rule, MaxPoolIndicesOp::Adaptor op);
llvm::LogicalResult inferRoiAlign(TypeRule& rule, RoiAlignOp::Adaptor op);
llvm::LogicalResult inferDet(TypeRule& rule, mlir::Value x);
llvm::LogicalResult inferTranspose(TypeRule& rule, TransposeOp::Adaptor op);
llvm::LogicalResult inferReshape(TypeRule& rule, ReshapeOp::Adaptor op);
llvm::LogicalResult inferExpand(TypeRule& rule, ExpandOp::Adaptor op);
llvm::LogicalResult inferConcat(TypeRule& rule, mlir::ValueRange operands, int64_t axis);
llvm::LogicalResult inferSlice(TypeRule& rule, SliceOp::Adaptor op);
llvm::LogicalResult inferPad(TypeRule& rule, PadOp::Adaptor op);
llvm::LogicalResult inferGather(TypeRule& rule, GatherOp::Adaptor op);
llvm::LogicalResult inferGatherElements(TypeRule& rule, GatherElementsOp::Adaptor op);
llvm::LogicalResult inferGatherNd(TypeRule& rule, GatherNdOp::Adaptor op);
llvm::LogicalResult inferScatterElements(TypeRule& rule, ScatterElementsOp::Adaptor op);
llvm::LogicalResult inferScatterNd(TypeRule& rule, ScatterNdOp::Adaptor op);
llvm::LogicalResult inferTile(TypeRule& rule, TileOp::Adaptor op);
llvm::LogicalResult inferOneHot(TypeRule& rule, OneHotOp::Adaptor op);
llvm::LogicalResult inferResize(TypeRule& rule, ResizeOp::Adaptor op);
llvm::LogicalResult inferTopK(TypeRule& rule, TopKOp::Adaptor op);
llvm::LogicalResult inferIota(TypeRule& rule, IotaOp::Adaptor op);
llvm::LogicalResult inferCountNgrams(TypeRule& rule, CountNgramsOp::Adaptor op);
llvm::LogicalResult inferCountNonzero(TypeRule& rule, CountNonzeroOp::Adaptor op);
llvm::LogicalResult inferNonzero(TypeRule& rule, NonzeroOp::Adaptor op);
llvm::LogicalResult inferSortRows(TypeRule& rule, SortRowsOp::Adaptor op);
llvm::LogicalResult inferUniqueRows(TypeRule& rule, UniqueRowsOp::Adaptor op);
llvm::LogicalResult inferSuppressBoxes(TypeRule& rule, SuppressBoxesOp::Adaptor op);
llvm::LogicalResult inferParseText(TypeRule& rule, mlir::Value x, llvm::StringRef to);
llvm::LogicalResult inferFormatText(TypeRule& rule, mlir::Value x);
llvm::LogicalResult inferChangeCase(TypeRule& rule, mlir::Value x);
llvm::LogicalResult inferConstant(TypeRule& rule, mlir::ElementsAttr value);
llvm::LogicalResult inferDimsTensor(TypeRule& rule, DimsTensorOp::Adaptor op);

}  // namespace scopevm::compiler::graph
