// Four products of bytes at once: see the header. LLVM finds neither instruction in plain
// arithmetic reliably, so both are its intrinsics.
#include "compiler/kernels/contraction/matmul/byte_dot.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace scopevm::compiler::kernels {
namespace {

using mlir::Value;

Value call_intrinsic(Emitter& e, llvm::StringRef name, mlir::Type type, mlir::ValueRange operands) {
  return e.builder.create<mlir::LLVM::CallIntrinsicOp>(e.location, type, name, operands)
      .getResult(0);
}

// Bytes 0 and 2 of each lane as i16, and bytes 1 and 3.
struct Halves {
  Value even, odd;
};

Halves unsigned_halves(Emitter& e, Value x, mlir::VectorType halves) {
  auto i32 = mlir::cast<mlir::VectorType>(x.getType());
  auto constant = [&](int64_t value) {
    return e.splat(e.builder.create<mlir::arith::ConstantOp>(
                       e.location, e.builder.getI32IntegerAttr(static_cast<int32_t>(value))),
                   i32);
  };
  Value mask = constant(0x00FF00FF);
  Value shifted = e.builder.create<mlir::arith::ShRUIOp>(e.location, x, constant(8));
  return {e.bitcast(e.both(x, mask), halves), e.bitcast(e.both(shifted, mask), halves)};
}

Halves signed_halves(Emitter& e, Value x, mlir::VectorType halves) {
  Value bytes = e.bitcast(x, halves);
  Value eight =
      e.splat(e.builder.create<mlir::arith::ConstantOp>(e.location, e.builder.getI16IntegerAttr(8)),
              halves);
  Value left = e.builder.create<mlir::arith::ShLIOp>(e.location, bytes, eight);
  return {e.builder.create<mlir::arith::ShRSIOp>(e.location, left, eight),
          e.builder.create<mlir::arith::ShRSIOp>(e.location, bytes, eight)};
}

}  // namespace

Value byte_dot(Emitter& e, const Target& target, Value a, Value b, Value sum) {
  mlir::Type type = sum.getType();
  std::string bits = std::to_string(target.vector_bits);
  if (target.has_byte_dot)
    return call_intrinsic(e, "llvm.x86.avx512.vpdpbusd." + bits, type, {sum, a, b});
  auto halves = mlir::VectorType::get({target.lanes(2)}, e.builder.getI16Type());
  const char* multiply = target.vector_bits == 512   ? "llvm.x86.avx512.pmaddw.d.512"
                         : target.vector_bits == 256 ? "llvm.x86.avx2.pmadd.wd"
                                                     : "llvm.x86.sse2.pmadd.wd";
  Halves left = unsigned_halves(e, a, halves), right = signed_halves(e, b, halves);
  Value even = call_intrinsic(e, multiply, type, {left.even, right.even});
  Value odd = call_intrinsic(e, multiply, type, {left.odd, right.odd});
  return e.add(sum, e.add(even, odd));
}

}  // namespace scopevm::compiler::kernels
