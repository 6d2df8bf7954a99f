// Conversion of the small types (is_small), whose elements can share bytes, to and from one byte
// for each element. A work item is a byte of the tensor of the small type.
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

// The elements in a byte, and their number in the tensor.
struct Shared {
  int64_t per_byte;
  Term count;

  int64_t bits() const { return 8 / per_byte; }
};

DimExpr bytes_of(mlir::Value value) {
  return mlir::cast<graph::TensorType>(value.getType()).getBytes();
}

}  // namespace

llvm::LogicalResult lower(graph::UnpackBitsOp op, LoweringContext& context) {
  KernelBuilder k(context, op, "unpack_bits");
  const Buffer packed = k.operand(op.getX()), y = k.result(op.getResult());
  const Shared shared{elements_per_byte(packed.dtype),
                      k.param(element_count(shape_of(op.getResult())))};
  k.loop(k.begin(), k.end(), 1, [&](Term at) {
    const Term byte = k.load(packed, at);
    const auto store = [&](int64_t i) {
      const Term bits = shift_right(byte, i * shared.bits());
      k.store(y, at * shared.per_byte + i, bits & bits.integer((1 << shared.bits()) - 1));
    };
    store(0);
    // Only the last byte can have unused bits.
    for (int64_t i = 1; i < shared.per_byte; ++i)
      k.when(at * shared.per_byte + i < shared.count, [&] { store(i); });
  });
  return k.launch(bytes_of(op.getX()), grain_of_bytes(1 + shared.per_byte));
}

llvm::LogicalResult lower(graph::PackBitsOp op, LoweringContext& context) {
  KernelBuilder k(context, op, "pack_bits");
  const Buffer x = k.operand(op.getX()), packed = k.result(op.getResult());
  const Shared shared{elements_per_byte(packed.dtype),
                      k.param(element_count(shape_of(op.getResult())))};
  k.loop(k.begin(), k.end(), 1, [&](Term at) {
    const auto element = [&](int64_t i) {
      const Term bits = k.load(x, at * shared.per_byte + i);
      return shift_left(bits & bits.integer((1 << shared.bits()) - 1), i * shared.bits());
    };
    Term byte = element(0);
    for (int64_t i = 1; i < shared.per_byte; ++i)
      byte = byte | k.branch(
                         at * shared.per_byte + i < shared.count, {byte.type()},
                         [&] { return Terms{element(i)}; }, [&] { return Terms{byte.integer(0)}; })
                        .front();
    k.store(packed, at, byte);
  });
  return k.launch(bytes_of(op.getResult()), grain_of_bytes(1 + shared.per_byte));
}

}  // namespace scopevm::compiler::kernels
