// The op with a blocked form of docs/adding-an-op.md, which only this program contains.
#include <gtest/gtest.h>

#include "compiler/layouts/layouts.h"
#include "compiler/layouts/models/image.h"
#include "compiler/layouts/models/models.h"
#include "compiler/passes/context.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

// Included last: the generated definitions use the declarations above.
#include "tests/graph/flip.inc"

namespace scopevm::compiler::layouts {
namespace {

// Two convolutions with a flip of `axis` between them.
std::string network(int axis) {
  const std::string image = "!sv.tensor<f32[1, 64, 16, 16], @cpu>";
  const std::string weights = "!sv.tensor<f32[64, 64, 3, 3], @cpu>";
  const auto conv = [&](const std::string& result, const std::string& x) {
    return result + " = sv.conv " + x + ", %w {strides = array<i64: 1, 1>, " +
           "pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (" +
           image + ", " + weights + ") -> " + image + "\n";
  };
  return "func.func @main(%x: " + image + ") -> " + image + " {\n%w = sv.constant " +
         "{value = dense<0.5> : tensor<64x64x3x3xf32>} : " + weights + "\n" + conv("%a", "%x") +
         "%b = sv.flip %a {axis = " + std::to_string(axis) + " : i64} : (" + image + ") -> " +
         image + "\n" + conv("%c", "%b") + "return %c : " + image + "\n}\n";
}

// The type of the flipped image, and the conversions of images.
std::pair<graph::TensorType, size_t> flipped(mlir::MLIRContext& context, int axis) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(network(axis), &context);
  if (!module) return {};
  const Report report = choose_layouts(*module, Machine::host(), {.layout = ImageLayout::kBlocked});
  graph::TensorType type;
  module->walk([&](graph::FlipOp op) { type = graph::type_of(op.getResult()); });
  return {type, report.conversions.size()};
}

TEST(AddedImageOp, IsBlockedWithTheConvolutionsAroundIt) {
  const std::unique_ptr<mlir::MLIRContext> made = make_context();
  mlir::MLIRContext& context = *made;
  mlir::RegisteredOperationName::insert<graph::FlipOp>(
      *context.getLoadedDialect<graph::GraphDialect>());
  EXPECT_EQ(flipped(context, 3).first.getRank(), 4) << "without a model";
  EXPECT_EQ(flipped(context, 3).second, 4U);
#include "tests/graph/flip_attached.inc"
  EXPECT_EQ(flipped(context, 3).first.getShape(), llvm::ArrayRef<DimExpr>({1, 4, 16, 16, 16}));
  EXPECT_EQ(flipped(context, 3).second, 2U) << "of the input and the result";
  EXPECT_EQ(flipped(context, 1).first.getRank(), 4) << "along the channels";
  EXPECT_EQ(flipped(context, 1).second, 4U);
}

}  // namespace
}  // namespace scopevm::compiler::layouts
