// Every op of the dialect implements the interfaces that passes use. A failure contains the name of
// the op.
#include <gtest/gtest.h>

#include "compiler/graph/graph_ops.h"
#include "compiler/passes/context.h"
#include "mlir/IR/MLIRContext.h"

namespace scopevm::compiler::graph {
namespace {

std::vector<mlir::RegisteredOperationName> graph_ops(mlir::MLIRContext& context) {
  std::vector<mlir::RegisteredOperationName> ops;
  for (mlir::RegisteredOperationName op : context.getRegisteredOperations())
    if (op.getDialectNamespace() == GraphDialect::getDialectNamespace()) ops.push_back(op);
  return ops;
}

// Calls `check` for every op that is executed, not for declarations and the ops on tuples, which
// the frontend removes. Failures are reported with the op's name.
void for_each_op(llvm::function_ref<void(mlir::RegisteredOperationName op)> check) {
  const std::unique_ptr<mlir::MLIRContext> context = make_context();
  for (mlir::RegisteredOperationName op : graph_ops(*context)) {
    if (op.hasInterface<mlir::SymbolOpInterface>() || op.getStringRef().starts_with("sv.tuple"))
      continue;
    SCOPED_TRACE(op.getStringRef().str());
    check(op);
  }
}

// Returns whether the op's operands and attributes determine its result types.
bool is_typed(mlir::RegisteredOperationName op) {
  return op.hasInterface<mlir::InferTypeOpInterface>();
}

bool is_terminator(mlir::RegisteredOperationName op) {
  return op.hasTrait<mlir::OpTrait::IsTerminator>();
}

TEST(OpInterfaces, EveryOpHasALowering) {
  for_each_op([](auto op) {
    EXPECT_TRUE(op.template hasInterface<LoweringOp>() || is_terminator(op))
        << "no overload of lower() in compiler/kernels takes it";
  });
}

TEST(OpInterfaces, EveryOpDeclaresItsSideEffects) {
  for_each_op([](auto op) {
    EXPECT_TRUE(op.template hasInterface<mlir::MemoryEffectOpInterface>() ||
                op.template hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>());
  });
}

TEST(OpInterfaces, TypedOpsHaveChecksAndCosts) {
  for_each_op([](auto op) {
    if (!is_typed(op)) return;
    EXPECT_TRUE(op.template hasInterface<RequestCheckOp>());
    EXPECT_TRUE(op.template hasInterface<CostOp>());
  });
}

TEST(OpInterfaces, ElementwiseOpsAreEvaluatedOnDims) {
  for_each_op([](auto op) {
    if (op.template hasInterface<ElementwiseOp>())
      EXPECT_TRUE(op.template hasInterface<SymbolicOp>());
  });
}

TEST(OpInterfaces, OtherOpsAreControlFlowOrLists) {
  for_each_op([](auto op) {
    if (is_typed(op) || is_terminator(op)) return;
    EXPECT_TRUE(op.template hasInterface<mlir::RegionBranchOpInterface>() ||
                op.template hasInterface<mlir::CallOpInterface>() ||
                op.template hasInterface<mlir::SymbolUserOpInterface>() ||
                op.template hasTrait<mlir::OpTrait::IsIsolatedFromAbove>() ||
                op.template hasTrait<mlir::OpTrait::ZeroResults>() ||
                op.getStringRef().starts_with("sv.list"));
  });
}

TEST(OpCosts, AreFormulasOverDims) {
  const std::unique_ptr<mlir::MLIRContext> context = make_context();
  mlir::OpBuilder builder(context.get());
  mlir::Location location = builder.getUnknownLoc();
  const DimExpr n = DimExpr::symbol("n");
  auto x_type = TensorType::get(context.get(), DType::kF32, {n, DimExpr(8)});
  auto w_type = TensorType::get(context.get(), DType::kF32, {DimExpr(8), DimExpr(4)});
  mlir::Block block;
  mlir::Value x = block.addArgument(x_type, location), w = block.addArgument(w_type, location);
  builder.setInsertionPointToEnd(&block);

  auto product = builder.create<MatMulOp>(location, x, w, false, false);
  EXPECT_EQ(mlir::cast<CostOp>(product.getOperation()).getFlops(), DimExpr(2 * 8 * 4) * n);
  EXPECT_EQ(mlir::cast<CostOp>(product.getOperation()).getBytes(),
            DimExpr(4 * 8) * n + DimExpr(4 * 8 * 4) + DimExpr(4 * 4) * n);

  auto sum = builder.create<ReduceSumOp>(location, x, llvm::ArrayRef<int64_t>{1}, true);
  EXPECT_EQ(mlir::cast<CostOp>(sum.getOperation()).getFlops(), DimExpr(8) * n);

  auto relu = builder.create<ReluOp>(location, x);
  EXPECT_EQ(mlir::cast<CostOp>(relu.getOperation()).getFlops(), DimExpr(8) * n);

  auto turned = builder.create<TransposeOp>(location, x, llvm::ArrayRef<int64_t>{1, 0});
  EXPECT_EQ(mlir::cast<CostOp>(turned.getOperation()).getFlops(), DimExpr(0));
}

}  // namespace
}  // namespace scopevm::compiler::graph
