// Registers the overloads of `lower` as external models of graph::LoweringOp, and selects the
// generator of a group.
#include "compiler/kernels/op_lowerings.h"

#include "compiler/kernels/function/function_lowering.h"
#include "compiler/kernels/generators.h"

namespace scopevm::compiler::kernels {
namespace {

// `op`: the contraction, or the group that starts with it.
llvm::LogicalResult lower_with_contraction(mlir::Operation* contraction, mlir::Operation* op,
                                           LoweringContext& context) {
  return mlir::isa<graph::WindowOp>(contraction) ? lower_convolution(op, context)
                                                 : lower_contraction(op, context);
}

template <typename Op>
struct OpLowering : graph::LoweringOp::ExternalModel<OpLowering<Op>, Op> {
  llvm::LogicalResult lower(mlir::Operation* op, LoweringContext& context) const {
    if constexpr (Op::template hasTrait<graph::ElementwiseOp::Trait>() ||
                  Op::template hasTrait<graph::ReductionOp::Trait>() ||
                  Op::template hasTrait<graph::RowOp::Trait>())
      return lower_map_reduce(op, context);
    else if constexpr (Op::template hasTrait<graph::ContractionOp::Trait>())
      return lower_with_contraction(op, op, context);
    else if constexpr (requires(FunctionLowering& function, Op own) { function.lower(own); })
      // FunctionLowering is the only implementation of LoweringContext.
      return static_cast<FunctionLowering&>(context).lower(mlir::cast<Op>(op));
    else
      return kernels::lower(mlir::cast<Op>(op), context);
  }
  llvm::SmallVector<mlir::Operation*> getFusibleTail(mlir::Operation* op, mlir::Value last,
                                                     graph::WithEpilogue with_epilogue) const {
    if constexpr (requires(Op first) { fusible_tail(first, last, with_epilogue); })
      return fusible_tail(mlir::cast<Op>(op), last, with_epilogue);
    else
      return {};
  }
};

// Terminators are lowered with their parent op, and declarations with the calls of their functions.
template <typename Op>
void attach(mlir::MLIRContext* context) {
  if constexpr (!Op::template hasTrait<mlir::OpTrait::IsTerminator>() &&
                !Op::template hasTrait<mlir::SymbolOpInterface::Trait>())
    Op::template attachInterface<OpLowering<Op>>(*context);
}

}  // namespace

// Selects the generator of a group. In a group with a contraction, only slices and constants can
// precede the contraction.
llvm::LogicalResult lower(graph::GroupOp group, LoweringContext& context) {
  for (mlir::Operation& op : group.getBody().front()) {
    if (mlir::isa<graph::ConstantOp, graph::SliceOp>(op)) continue;
    if (!mlir::isa<graph::ContractionOp>(op)) break;
    return lower_with_contraction(&op, group, context);
  }
  return lower_map_reduce(group, context);
}

void register_lowerings(mlir::DialectRegistry& registry) {
  registry.addExtension(+[](mlir::MLIRContext* context, graph::GraphDialect*) {
#define SCOPEVM_GRAPH_OP(Op) attach<graph::Op>(context);
#include "compiler/graph/graph_op_list.inc"
#undef SCOPEVM_GRAPH_OP
  });
}

}  // namespace scopevm::compiler::kernels
