// Dot products of four bytes by vpdpbusd, or by pmaddwd on targets without it. LLVM does not
// reliably select these instructions from plain arithmetic, so they are emitted as intrinsics.
#include "compiler/kernels/contraction/tile/byte_dot.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace scopevm::compiler::kernels {
namespace {

Term call_intrinsic(llvm::StringRef name, Term like, llvm::ArrayRef<Term> operands) {
  return like.with(like.builder
                       ->create<mlir::LLVM::CallIntrinsicOp>(like.location, like.type(), name,
                                                             values_of(operands))
                       .getResult(0));
}

// Two vectors of i16: `even` has bytes 0 and 2 of each i32 lane, `odd` has bytes 1 and 3.
struct Halves {
  Term even, odd;
};

int64_t lanes_of(Term x) { return mlir::cast<mlir::VectorType>(x.type()).getNumElements(); }

Term as_halves(CodeBuilder& e, Term x) {
  return e.reinterpret(x, e.builder().getI16Type(), 2 * lanes_of(x));
}

Halves unsigned_halves(CodeBuilder& e, Term x) {
  Term mask = x.integer(0x00FF00FF);
  return {as_halves(e, x & mask), as_halves(e, shift_right(x, 8) & mask)};
}

Halves signed_halves(CodeBuilder& e, Term x) {
  Term halves = as_halves(e, x);
  // A left shift followed by an arithmetic right shift extends the sign of the low byte.
  return {shift_right_signed(shift_left(halves, 8), 8), shift_right_signed(halves, 8)};
}

}  // namespace

Term byte_dot(CodeBuilder& e, Term a, Term b, Term sum) {
  const int64_t bits = lanes_of(sum) * 32;
  // vpdpbusd multiplies unsigned by signed bytes, without saturation of the sum.
  if (e.target().has_byte_dot)
    return call_intrinsic("llvm.x86.avx512.vpdpbusd." + std::to_string(bits), sum, {sum, a, b});
  const char* multiply = bits == 512   ? "llvm.x86.avx512.pmaddw.d.512"
                         : bits == 256 ? "llvm.x86.avx2.pmadd.wd"
                                       : "llvm.x86.sse2.pmadd.wd";
  // pmaddubsw multiplies unsigned by signed bytes, but it saturates its i16 sums. Bytes are
  // therefore widened to i16 and multiplied by pmaddwd, which is exact.
  Halves left = unsigned_halves(e, a), right = signed_halves(e, b);
  Term even = call_intrinsic(multiply, sum, {left.even, right.even});
  Term odd = call_intrinsic(multiply, sum, {left.odd, right.odd});
  return sum + (even + odd);
}

}  // namespace scopevm::compiler::kernels
