// KernelBuilder: signatures independent of the order of declarations, sharing of equal kernels,
// compile-time constants in kernels, in-place results, merged axes, and the split of contiguous
// elements into vectors.
#include "compiler/kernels/builder/kernel_builder.h"

#include "tests/kernels/builder/building.h"

namespace scopevm::compiler::testing {
namespace {

using namespace kernels;  // NOLINT: the API under test

const DimExpr n = DimExpr::symbol("n");

using KernelBuilderTest = Building;

TEST_F(KernelBuilderTest, BuffersAndParamsHaveADefinedOrder) {
  KernelBuilder k(*this, op(), "test");
  k.param(n);
  Buffer y = k.result(ValueId{5}, DType::kF32, Elements::kNumbers);
  Buffer x = k.operand(ValueId{3}, DType::kF16);
  Scratch scratch = k.scratch(n, DType::kF64);
  k.store(y, k.begin(), k.load(y, k.end()));
  k.store(x, k.index(0), k.zero(x));
  k.store(scratch.buffer, scratch.start, k.zero(scratch.buffer));
  ASSERT_TRUE(mlir::succeeded(k.launch(n, 1)));
  EXPECT_EQ(count("(%arg0: memref<?xi16>, %arg1: memref<?xf32>, %arg2: memref<?xf64>, "
                  "%arg3: index, %arg4: index, %arg5: index, %arg6: index, %arg7: index, "
                  "%arg8: index)"),
            1)
      << text();
  ASSERT_EQ(steps_.size(), 1u);
  EXPECT_EQ(steps_[0].operands, std::vector<ValueId>{ValueId{3}});
  EXPECT_EQ(steps_[0].results, std::vector<ValueId>{ValueId{5}});
  ASSERT_EQ(launch(0).temporaries.size(), 1u);
  EXPECT_TRUE(launch(0).temporaries[0].per_worker);
  EXPECT_TRUE(launch(0).temporaries[0].bytes == n * DimExpr(8));
  EXPECT_EQ(module_.kernels().front().buffer_count, 3);
  EXPECT_EQ(module_.kernels().front().param_count, 2);  // n, and the scratch size per worker
}

TEST_F(KernelBuilderTest, EqualKernelsAreMergedAndUnusedOnesErased) {
  for (DimExpr size : {n, n + 1}) {
    KernelBuilder k(*this, op(), "fill");
    Buffer y = k.result(ValueId{0}, DType::kF32);
    k.fill(y, k.index(0), k.param(size), k.zero(y));
    ASSERT_TRUE(mlir::succeeded(k.launch(1, 1)));
  }
  {
    KernelBuilder unlaunched(*this, op(), "other");
  }
  EXPECT_EQ(module_.kernels().size(), 1u);
  EXPECT_EQ(steps_.size(), 2u);
  EXPECT_EQ(launch(0).kernel, launch(1).kernel);
  EXPECT_EQ(count("func.func"), 1);
}

TEST_F(KernelBuilderTest, ZeroStridesAreNotParams) {
  KernelBuilder k(*this, op(), "test");
  k.stride(0);
  k.stride(n);
  ASSERT_TRUE(mlir::succeeded(k.launch(1, 1)));
  EXPECT_EQ(launch(0).params.size(), 1u);
}

TEST_F(KernelBuilderTest, ValueThatIsTwoOperandsIsNotOverwritten) {
  KernelBuilder k(*this, op(), "test");
  Buffer x = k.operand(ValueId{1}, DType::kF32), z = k.operand(ValueId{2}, DType::kF32);
  Buffer x_again = k.operand(ValueId{1}, DType::kF32), y = k.result(ValueId{3}, DType::kF32);
  EXPECT_FALSE(k.allow_in_place(y, x));
  EXPECT_FALSE(k.allow_in_place(y, x_again));
  EXPECT_TRUE(k.allow_in_place(y, z));
  ASSERT_TRUE(mlir::succeeded(k.launch(1, 1)));
  ASSERT_EQ(launch(0).in_place.size(), 1u);
  EXPECT_EQ(launch(0).in_place[0].operand, 1);
}

TEST_F(KernelBuilderTest, GrainIsAtLeastOne) {
  EXPECT_TRUE(grain_of(1000, 10) == DimExpr(100));
  EXPECT_TRUE(grain_of(1000, 0) == DimExpr(1000));
  EXPECT_TRUE(grain_of(1000, 5000) == DimExpr(1));
}

TEST_F(KernelBuilderTest, WalkOverConstantAxesDividesOncePerAxis) {
  KernelBuilder k(*this, op(), "test");
  Buffer y = k.result(ValueId{0}, DType::kI8);
  llvm::SmallVector<Axis> axes = {{n, {n * 4}}, {n, {4}}, {4, {1}}};
  k.for_items(axes, {0}, [&](auto, auto offsets) { k.store(y, offsets[0], k.zero(y)); });
  ASSERT_TRUE(mlir::succeeded(k.launch(count_items(axes), 1)));
  EXPECT_EQ(count("arith.remui"), 2);
  EXPECT_EQ(count("arith.divui"), 2);
}

TEST_F(KernelBuilderTest, ContiguousAxesAreMerged) {
  llvm::SmallVector<Axis> axes = {{2, {n * 12, 12}}, {3, {n * 4, 4}}, {1, {7, 7}}, {4, {1, 1}}};
  simplify(axes);
  // The first two axes are merged, and the axis of size 1 is dropped. The last axis is not merged,
  // because it is contiguous with the others in the second offset only.
  ASSERT_EQ(axes.size(), 2u);
  EXPECT_TRUE(axes[0].size == DimExpr(6));
  EXPECT_TRUE(axes[1].size == DimExpr(4));
}

TEST_F(KernelBuilderTest, TailsAreMaskedIfMasksAreCheap) {
  KernelBuilder k(*this, op(), "test");
  Buffer x = k.operand(ValueId{0}, DType::kF32), y = k.result(ValueId{1}, DType::kF32);
  k.copy(x, k.index(0), y, k.index(0), k.param(n));
  ASSERT_TRUE(mlir::succeeded(k.launch(1, 1)));
  EXPECT_EQ(count("vector.store"), 1);
  EXPECT_EQ(count("vector.maskedstore"), 1);
  EXPECT_EQ(count("memref.store"), 0);
}

class WithoutMasks : public Building {
 protected:
  WithoutMasks() : Building({.vector_bits = 256, .has_masks = false}) {}
};

TEST_F(WithoutMasks, TailsOverlapOrAreSingleElements) {
  KernelBuilder k(*this, op(), "test");
  Buffer x = k.operand(ValueId{0}, DType::kF32), y = k.result(ValueId{1}, DType::kF32);
  k.copy(x, k.index(0), y, k.index(0), k.param(n));
  ASSERT_TRUE(mlir::succeeded(k.launch(1, 1)));
  EXPECT_EQ(count("vector.store"), 2);
  EXPECT_EQ(count("vector.maskedstore"), 0);
  EXPECT_EQ(count("memref.store"), 1);
}

}  // namespace
}  // namespace scopevm::compiler::testing
