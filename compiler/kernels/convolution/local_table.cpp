// Chooses the memory of a table; see local_table.h.
#include "compiler/kernels/convolution/local_table.h"

#include "compiler/kernels/target/target_attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace scopevm::compiler::kernels {
namespace {

constexpr int64_t kTableAlignment = 64;

// The bytes that a local buffer takes at most on the stack, with the padding of its alignment.
int64_t stack_bytes(mlir::MemRefType type) {
  const int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  return (bytes + kTableAlignment - 1) / kTableAlignment * kTableAlignment;
}

int64_t stack_bytes(mlir::func::FuncOp function) {
  int64_t bytes = 0;
  function.walk([&](mlir::memref::AllocaOp op) { bytes += stack_bytes(op.getType()); });
  return bytes;
}

}  // namespace

Scratch local_table(KernelBuilder& k, int64_t elements, DType dtype) {
  auto type = mlir::MemRefType::get({elements}, storage_type(k.builder().getContext(), dtype));
  auto function = mlir::cast<mlir::func::FuncOp>(k.builder().getBlock()->getParentOp());
  const int64_t limit = max_stack_bytes(k.context().kernels().module());
  if (stack_bytes(function) + stack_bytes(type) > limit) return k.scratch(elements, dtype);
  auto table = k.make<mlir::memref::AllocaOp>(type, k.builder().getI64IntegerAttr(kTableAlignment));
  return {{table, dtype}, k.index(0)};
}

}  // namespace scopevm::compiler::kernels
