// Registers the overloads of `lower` as external models of graph::LoweringOp, and selects the
// generator of a group.
#include "compiler/kernels/op_lowerings.h"

#include "compiler/kernels/generators.h"

namespace scopevm::compiler::kernels {
namespace {

template <typename Op>
struct OpLowering : graph::LoweringOp::ExternalModel<OpLowering<Op>, Op> {
  llvm::LogicalResult lower(mlir::Operation* op, LoweringContext& context) const {
    if constexpr (Op::template hasTrait<graph::ElementwiseOp::Trait>() ||
                  Op::template hasTrait<graph::ReductionOp::Trait>())
      return lower_map_reduce(op, context);
    else
      return kernels::lower(mlir::cast<Op>(op), context);
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

// Selects the generator of a group. In a group with a contraction, only constants can precede the
// contraction.
llvm::LogicalResult lower(graph::GroupOp group, LoweringContext& context) {
  for (mlir::Operation& op : group.getBody().front()) {
    if (mlir::isa<graph::ConstantOp>(op)) continue;
    if (!op.hasTrait<graph::Contraction>()) break;
    return mlir::isa<graph::WindowOp>(op) ? lower_convolution(group, context)
                                          : lower_contraction(group, context);
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
