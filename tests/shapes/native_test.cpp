// Compares the native shape function with the evaluator of the shape program.
#include <gtest/gtest.h>

#include <random>

#include "compiler/shapes/program/emit_llvm.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/TargetSelect.h"
#include "scopevm/kernel_abi.h"

namespace scopevm::compiler {
namespace {

const DimExpr n = DimExpr::symbol("n"), m = DimExpr::symbol("m");
const DimExpr threads = DimExpr::symbol(kThreadsSymbol);

// A function with the inputs a: [n, 3] and b: [m, n].
Function two_inputs() {
  Function function;
  function.values = {{.name = "a", .shape = {n, 3}, .origin = ValueOrigin::kInput},
                     {.name = "b", .shape = {m, n}, .origin = ValueOrigin::kInput}};
  function.inputs = {{0}, {1}};
  function.dimensions = {{"n", 0, int64_t{1} << 62}, {"m", 0, int64_t{1} << 62}};
  return function;
}

// The native shape function of a program, compiled in memory.
class NativeShapes {
 public:
  explicit NativeShapes(const ShapeProgram& program)
      : slots(program.stores().size(), -77), count_(program.conditions().size()) {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = std::make_unique<llvm::Module>("shapes", *context);
    emit_shape_function(program, {0}, "shape_main", *module);
    EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
    jit_ = llvm::cantFail(llvm::orc::LLJITBuilder().create());
    module->setDataLayout(jit_->getDataLayout());
    llvm::cantFail(jit_->addIRModule({std::move(module), std::move(context)}));
    function_ = llvm::cantFail(jit_->lookup("shape_main")).toPtr<ShapeFn>();
  }

  // Calls the shape function with the input dims, followed by the number of threads. Sets `slots`.
  // -fsanitize=function reads a signature before each called function. Compiled shape functions
  // have no such signature.
#if defined(__clang__)
  __attribute__((no_sanitize("function")))
#endif
  int64_t
  operator()(std::vector<int64_t> dims) {
    return function_(dims.data(), slots.data());
  }
  // The result of a call that overflows.
  int64_t overflow_check() const { return static_cast<int64_t>(count_); }

  IndexedVector<SlotIndex, int64_t> slots;

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  ShapeFn function_ = nullptr;
  size_t count_;
};

TEST(NativeShapes, WritesSlotsAndReportsTheFirstFailedCheck) {
  Function function = two_inputs();
  function.checks = {{Check::Kind::kBroadcastable, n, m, "broadcast"},
                     {Check::Kind::kMultipleOf, m, 4, "multiple"}};
  ShapeProgram program = *ShapeProgram::create(function);
  const SlotIndex slot = program.slot_of(program.value(n * threads));
  NativeShapes native(program);
  EXPECT_EQ(native({5, 3, 1, 5, 2}), 7) << "1 is not a multiple of 4";
  EXPECT_EQ(native({4, 3, 4, 4, 2}), -1);
  EXPECT_EQ(native.slots[slot], 8);
  EXPECT_EQ(native({4, 2, 4, 4, 2}), 0) << "dim 1 of a is 3";
  EXPECT_EQ(native({4, 3, 4, 5, 2}), 1) << "n is 4";
  const ShapeProgram::Condition& failed = program.conditions()[1];
  EXPECT_EQ(native.slots[failed.lhs_slot], 5);
  EXPECT_EQ(native.slots[failed.rhs_slot], 4);
  EXPECT_EQ(native({-1, 3, 4, -1, 2}), 2) << "below its minimum";
  EXPECT_EQ(native({5, 3, 8, 5, 2}), 6) << "5 and 8 do not broadcast";
}

TEST(NativeShapes, OverflowAndBadDivisorsFailTheOverflowCheck) {
  ShapeProgram program = *ShapeProgram::create(two_inputs());
  program.slot_of(program.value(n * n * 8));
  program.slot_of(program.value(floordiv(n + 1, m)));
  NativeShapes native(program);
  EXPECT_EQ(native({100, 3, 7, 100, 1}), -1);
  EXPECT_EQ(native({int64_t{1} << 40, 3, 7, int64_t{1} << 40, 1}), native.overflow_check());
  EXPECT_EQ(native({100, 3, 0, 100, 1}), native.overflow_check());
}

TEST(NativeShapes, ChecksAfterAnOverflowAreNotReported) {
  constexpr int64_t kLarge = int64_t{1} << 40;
  Function function = two_inputs();
  function.checks = {{Check::Kind::kAtLeast, n * n, 10, "square"},
                     {Check::Kind::kAtLeast, m, 5, "m"}};
  ShapeProgram program = *ShapeProgram::create(function);
  NativeShapes native(program);
  EXPECT_EQ(native({4, 3, 7, 4, 1}), -1);
  EXPECT_EQ(native({3, 3, 7, 3, 1}), 6) << "9 is less than 10";
  EXPECT_EQ(native({kLarge, 3, 7, kLarge, 1}), native.overflow_check()) << "2^80 wraps to 0";
  EXPECT_EQ(native({kLarge, 3, 4, kLarge, 1}), 7) << "m does not depend on the overflow";
}

DimExpr random_expr(std::mt19937& random, int depth) {
  if (depth == 0) {
    const DimExpr leaves[] = {n, m, threads, static_cast<int64_t>(random() % 100) - 20};
    return leaves[random() % 4];
  }
  DimExpr a = random_expr(random, depth - 1), b = random_expr(random, depth - 1);
  switch (random() % 7) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return floordiv(a, b);
    case 4:
      return mod(a, b);
    case 5:
      return min(a, b);
    default:
      return max(a, b);
  }
}

TEST(NativeShapes, AgreesWithTheEvaluatorOnRandomExpressions) {
  std::mt19937 random(11);
  int failed = 0, held = 0;
  for (int round = 0; round < 40; ++round) {
    ShapeProgram program = *ShapeProgram::create(two_inputs());
    std::vector<SlotIndex> slots;
    for (int i = 0; i < 4; ++i)
      slots.push_back(program.slot_of(program.value(random_expr(random, 3))));
    NativeShapes native(program);
    for (int point = 0; point < 25; ++point) {
      int64_t bound = point % 3 == 0 ? int64_t{1} << 40 : 60;
      int64_t x = static_cast<int64_t>(random()) % bound,
              y = static_cast<int64_t>(random()) % bound;
      if (point % 3 == 0) x *= int64_t{1} << 28;
      auto values = program.evaluate({{"n", x}, {"m", y}}, 3);
      int64_t result = native({x, 3, y, x, 3});
      ASSERT_EQ(result, values ? -1 : native.overflow_check()) << program.str();
      (values ? held : failed)++;
      if (!values) continue;
      for (SlotIndex slot : slots)
        ASSERT_EQ(native.slots[slot], (*values)[*program.stores()[slot]]) << program.str();
    }
  }
  EXPECT_GT(held, 200);
  EXPECT_GT(failed, 50);
}

}  // namespace
}  // namespace scopevm::compiler
