// Term: constants are folded during construction, numbers adopt the type of the other operand, and
// the type selects signed, unsigned or float operations.
#include "mlir/IR/Matchers.h"
#include "tests/kernels/builder/building.h"

namespace scopevm::compiler::testing {
namespace {

using namespace kernels;  // NOLINT: the API under test

class TermTest : public Building {
 protected:
  TermTest() : k_(*this, op(), "test") {}

  std::optional<int64_t> integer_of(Term term) {
    llvm::APInt value;
    if (!mlir::matchPattern(term.value, mlir::m_ConstantInt(&value))) return std::nullopt;
    return value.getSExtValue();
  }
  std::string op_name(Term term) {
    return term.value.getDefiningOp()->getName().getStringRef().str();
  }

  KernelBuilder k_;
};

TEST_F(TermTest, ConstantsFold) {
  EXPECT_EQ(integer_of(k_.index(7) * 3 + 1), 22);
  EXPECT_EQ(integer_of(remainder(k_.index(22), 5)), 2);
  EXPECT_EQ(integer_of(ceil_quotient(k_.index(22), k_.index(5))), 5);
  EXPECT_EQ(integer_of(select(k_.index(1) < k_.index(2), k_.index(3), k_.index(4))), 3);
  EXPECT_EQ(integer_of(clamp(k_.index(9), k_.index(0), k_.index(4))), 4);
}

TEST_F(TermTest, NeutralOperandsDisappear) {
  Term x = k_.param(DimExpr::symbol("n"));
  EXPECT_EQ((x + 0).value, x.value);
  EXPECT_EQ((x * 1).value, x.value);
}

TEST_F(TermTest, NumbersTakeTheTypeOfTheOtherOperand) {
  Buffer x = k_.operand(ValueId{0}, DType::kF32, Elements::kNumbers);
  Term lanes = k_.load(x, k_.index(0), 8);
  EXPECT_EQ((lanes * 2).type(), k_.vector(k_.builder().getF32Type(), 8));
  EXPECT_EQ(op_name(lanes * 2), "arith.mulf");
  // An i8 constant has the low 8 bits of the number.
  EXPECT_EQ(integer_of(k_.zero(k_.builder().getI8Type()).integer(0x1FF)), -1);
}

TEST_F(TermTest, TypesSelectTheOperation) {
  Term f = k_.load(k_.operand(ValueId{0}, DType::kF32, Elements::kNumbers), k_.index(0));
  Term i = k_.load(k_.operand(ValueId{1}, DType::kI32, Elements::kNumbers), k_.index(0));
  EXPECT_EQ(op_name(f / f), "arith.divf");
  EXPECT_EQ(op_name(i / i), "arith.divsi");
  EXPECT_EQ(op_name(quotient(i, i)), "arith.divui");
  EXPECT_EQ(op_name(min(i, 3)), "arith.minsi");
  EXPECT_EQ(op_name(f < 3), "arith.cmpf");
  auto compare = less(i, i + 1, /*is_unsigned=*/true).value.getDefiningOp<mlir::arith::CmpIOp>();
  EXPECT_EQ(compare.getPredicate(), mlir::arith::CmpIPredicate::ult);
}

TEST_F(TermTest, ConvertsBetweenIndexIntegersAndFloats) {
  Term n = k_.param(DimExpr::symbol("n"));
  mlir::Type f32 = k_.builder().getF32Type();
  EXPECT_EQ(op_name(convert(n, f32)), "arith.sitofp");  // after a conversion to i64
  EXPECT_EQ(convert(n, k_.index_type()).value, n.value);
  EXPECT_EQ(op_name(convert(to_i32(n), k_.builder().getI64Type())), "arith.extsi");
}

}  // namespace
}  // namespace scopevm::compiler::testing
