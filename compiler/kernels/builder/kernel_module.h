// KernelModule: the kernels of one target during generation, without duplicates.
//
// A kernel is `func.func @symbol(buffers..., params..., begin, end, worker)`:
//   buffers  one rank-1 `memref<?xT>` per operand, then per result, then per temporary. They do not
//            overlap, except where the step's in_place allows a result to share its operand's
//            storage. T is storage_type of the dtype: bool and u8 as i8, f16 and bf16 as i16, ...
//   params   `index`, one per Launch::params
//   begin, end, worker  `index`
// It writes work items [begin, end) of the grid. Sizes come from params, because the dim of a
// buffer's memref is undefined. Bodies use arith, math, scf, memref, vector and func, and call
// private functions of the same module, which are deduplicated by name.
#pragma once

#include <string>

#include "compiler/kernels/target/target.h"
#include "compiler/program.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::kernels {

// A kernels module under construction, without duplicate kernels. A generator builds a function
// under a temporary name; `intern` keeps it, or erases it if an equal kernel exists. Symbols are
// deterministic: the kind, then a counter in order of first appearance.
class KernelModule {
 public:
  KernelModule(mlir::MLIRContext* context, Target target);

  mlir::ModuleOp module() { return module_.get(); }
  const Target& target() const { return target_; }
  mlir::MLIRContext* context() { return module_->getContext(); }

  // Makes `function` a kernel and returns its index in kernels(). `kind` is the prefix of its
  // symbol. Erases `function` if an equal kernel exists.
  KernelIndex intern(mlir::func::FuncOp function, llvm::StringRef kind, int buffer_count,
                     int param_count);

  // A private function that kernels call, created once per name.
  mlir::func::FuncOp shared(llvm::StringRef name,
                            llvm::function_ref<mlir::func::FuncOp(mlir::OpBuilder&)> make);

  const IndexedVector<KernelIndex, Kernel>& kernels() const { return kernels_; }

 private:
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  Target target_;
  IndexedVector<KernelIndex, Kernel> kernels_;
  llvm::StringMap<KernelIndex> by_body_;
};

// The module of each device; devices of one kind may share one.
using ModulesByDevice = IndexedVector<DeviceIndex, KernelModule*>;

// The builtin type of `dtype` in a memref: bool and (u)int8 as i8, u32 as i32, ... f16 and bf16 are
// i16, because LLVM would move float halves by calls to a compiler's run-time library.
mlir::Type storage_type(mlir::MLIRContext* context, DType dtype);
bool is_unsigned(DType dtype);

}  // namespace scopevm::compiler::kernels
