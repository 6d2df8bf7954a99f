// Compares the native shape function with the evaluator of the shape program.
#include <gtest/gtest.h>

#include <random>

#include "compiler/shapes/emit_llvm.h"
#include "compiler/shapes/intervals.h"
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

// Kind 0: large, so that arithmetic overflows. Kind 1: near a power of two, at which small dims may
// end. Kind 2: below 60.
std::pair<int64_t, int64_t> random_dims(std::mt19937& random, int kind) {
  const auto draw = [&]() -> int64_t {
    const auto number = static_cast<int64_t>(random());
    if (kind == 0) return number % (int64_t{1} << 40);
    if (kind == 1) return (int64_t{1} << (8 + number % 14)) + number % 3 - 1;
    return number % 60;
  };
  const int64_t x = draw(), y = draw();
  return {kind == 0 ? x << 28 : x, y};
}

TEST(NativeShapes, AgreesWithTheEvaluatorOnRandomExpressions) {
  std::mt19937 random(11);
  int failed = 0, held = 0, with_small_dims = 0;
  for (int round = 0; round < 60; ++round) {
    ShapeProgram program = *ShapeProgram::create(two_inputs());
    std::vector<SlotIndex> slots;
    // Few programs with several random expressions have small dims.
    for (int i = 0; i < (round % 3 == 0 ? 1 : 4); ++i)
      slots.push_back(program.slot_of(program.value(random_expr(random, 3))));
    if (intervals(program, 256)) ++with_small_dims;
    NativeShapes native(program);
    for (int point = 0; point < 25; ++point) {
      const auto [x, y] = random_dims(random, point % 3);
      const int64_t thread_count = point % 5 == 0 ? 1 << 21 : 3;
      auto values = program.evaluate({{"n", x}, {"m", y}}, thread_count);
      int64_t result = native({x, 3, y, x, thread_count});
      ASSERT_EQ(result, values ? -1 : native.overflow_check()) << program.str();
      (values ? held : failed)++;
      if (!values) continue;
      for (SlotIndex slot : slots)
        ASSERT_EQ(native.slots[slot], (*values)[*program.stores()[slot]]) << program.str();
    }
  }
  EXPECT_GT(held, 200);
  EXPECT_GT(failed, 50);
  EXPECT_GT(with_small_dims, 10);
}

TEST(Intervals, ContainTheValuesOfRandomExpressions) {
  std::mt19937 random(5);
  int known = 0;
  for (int round = 0; round < 300; ++round) {
    ShapeProgram program = *ShapeProgram::create(two_inputs());
    program.value(random_expr(random, 3));
    const int64_t largest = int64_t{1} << (2 + random() % 19);  // a dim of a is 3
    const std::optional<Intervals> found = intervals(program, largest);
    if (!found) continue;
    ++known;
    for (int point = 0; point < 20; ++point) {
      const auto draw = [&] {
        return point % 4 == 0 ? largest : 1 + static_cast<int64_t>(random()) % largest;
      };
      const auto values = program.evaluate({{"n", draw()}, {"m", draw()}}, draw());
      ASSERT_TRUE(values) << program.str();
      for (const ShapeProgram::ValueIndex v : values->indices()) {
        ASSERT_GE((*values)[v], (*found)[v].min) << program.str() << v.value;
        ASSERT_LE((*values)[v], (*found)[v].max) << program.str() << v.value;
      }
    }
  }
  EXPECT_GT(known, 100);
}

TEST(Intervals, UnknownIfAValueMayOverflowOrADivisorMayBeBelowOne) {
  const auto known = [](DimExpr e, int64_t largest) {
    ShapeProgram program = *ShapeProgram::create(two_inputs());
    program.value(e);
    return intervals(program, largest).has_value();
  };
  EXPECT_TRUE(known(n * n * n, int64_t{1} << 20));
  EXPECT_FALSE(known(n * n * n, int64_t{1} << 21)) << "2^63 overflows";
  EXPECT_TRUE(known(floordiv(m, n), int64_t{1} << 62));
  EXPECT_FALSE(known(floordiv(m, n - 1), 256)) << "n may be 1";
  EXPECT_FALSE(known(mod(m, n - 1), 256)) << "n may be 1";
}

}  // namespace
}  // namespace scopevm::compiler
