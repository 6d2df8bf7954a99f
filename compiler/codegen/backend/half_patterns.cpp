// Converts f16 <-> f32 with integer arithmetic, by the method of F. Giesen
// (float_to_half_fast3_rtne, and its inverse).
#include "compiler/codegen/backend/half_patterns.h"

#include <cmath>

#include "compiler/kernels/builder/term.h"
#include "mlir/IR/PatternMatch.h"

namespace scopevm::compiler::codegen {
namespace {

namespace arith = mlir::arith;
using kernels::Term;

template <typename Op>
Term convert(Term x, mlir::Type element) {
  return x.with(x.builder->create<Op>(x.location, x.like(element), x.value));
}

// Exponent and mantissa, shifted to their position in f32, are the value times 2^-112. One
// multiplication therefore gives correct normal and subnormal numbers.
Term f16_to_f32(Term stored) {
  mlir::Builder& b = *stored.builder;
  Term bits = convert<arith::ExtUIOp>(stored, b.getI32Type());
  Term sign = shift_left(bits & bits.integer(0x8000), 16);
  Term magnitude = bits & bits.integer(0x7FFF);
  Term moved = shift_left(magnitude, 13);
  Term finite = bitcast(bitcast(moved, b.getF32Type()) * std::ldexp(1.0, 112), b.getI32Type());
  // Infinity and NaN keep their mantissa and get the largest exponent of f32.
  Term special = moved | moved.integer(0x7F800000);
  Term result = select(magnitude < 0x7C00, finite, special);
  return bitcast(result | sign, b.getF32Type());
}

Term f32_to_f16(Term x) {
  mlir::Builder& b = *x.builder;
  mlir::Type i32 = b.getI32Type();
  Term bits = bitcast(x, i32);
  Term sign = shift_right(bits & bits.integer(0x80000000), 16);
  Term magnitude = bits & bits.integer(0x7FFFFFFF);
  // Normal results: subtract 112 from the exponent, and round to nearest even by adding 0xFFF plus
  // the lowest kept bit. Then drop 13 bits.
  Term odd = shift_right(magnitude, 13) & magnitude.integer(1);
  Term normal = shift_right(magnitude + magnitude.integer(0xFFF - (112 << 23)) + odd, 13);
  // Subnormal results: adding 0.5 leaves the value, rounded to a multiple of 2^-24, in the low
  // bits.
  Term half = bitcast(magnitude, b.getF32Type()) + 0.5;
  Term subnormal = bitcast(half, i32) - magnitude.integer(0x3F000000);
  Term result = select(magnitude < 0x38800000, subnormal, normal);
  // 65520 and above round to infinity.
  result = select(magnitude < 0x477FF000, result, result.integer(0x7C00));
  // Every NaN becomes the quiet NaN with an empty payload.
  result = select(is_nan(x), result.integer(0x7E00), result);
  return convert<arith::TruncIOp>(result | sign, b.getI16Type());
}

bool is_f16_to_f32(mlir::Type from, mlir::Type to) {
  return mlir::getElementTypeOrSelf(from).isF16() && mlir::getElementTypeOrSelf(to).isF32();
}

struct ExpandExtension : mlir::OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  llvm::LogicalResult matchAndRewrite(arith::ExtFOp op,
                                      mlir::PatternRewriter& rewriter) const override {
    if (!is_f16_to_f32(op.getIn().getType(), op.getType())) return mlir::failure();
    Term x(rewriter, op.getLoc(), op.getIn());
    rewriter.replaceOp(op, f16_to_f32(bitcast(x, rewriter.getI16Type())).value);
    return mlir::success();
  }
};

struct ExpandTruncation : mlir::OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  llvm::LogicalResult matchAndRewrite(arith::TruncFOp op,
                                      mlir::PatternRewriter& rewriter) const override {
    if (!is_f16_to_f32(op.getType(), op.getIn().getType())) return mlir::failure();
    Term x(rewriter, op.getLoc(), op.getIn());
    rewriter.replaceOp(op, bitcast(f32_to_f16(x), rewriter.getF16Type()).value);
    return mlir::success();
  }
};

}  // namespace

void add_half_patterns(mlir::RewritePatternSet& patterns) {
  patterns.add<ExpandExtension, ExpandTruncation>(patterns.getContext());
}

}  // namespace scopevm::compiler::codegen
