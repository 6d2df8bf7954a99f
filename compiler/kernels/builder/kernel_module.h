// KernelModule: the kernels of one target during generation, without duplicates.
//
// A kernel is `func.func @symbol(buffers..., params..., begin, end, worker, first)`:
//   buffers  one rank-1 `memref<?xT>` per operand, then per result, then per temporary. A result
//            or temporary overlaps no other buffer, except where the step's in_place allows a
//            result to share its operand's storage. T is storage_type of the dtype, or for
//            Elements::kBits the integer type of its width.
//   params   `index`, one per Launch::params
//   begin, end, worker, first  `index`
// A call computes work items [begin, end) of the grid; KernelFn defines the last two. Sizes come
// from params, because the dim of a buffer's memref is undefined. Bodies use arith, math, scf,
// memref, vector and func, and calls of LLVM intrinsics (byte_dot.cpp). They can call private
// functions of the same module, which are deduplicated by name. If a call is interrupted, its
// kernel can return after any iteration of a loop.
#pragma once

#include <string>

#include "compiler/program/program.h"
#include "compiler/schedule/core.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::kernels {

// A generator builds a function under a temporary name, and passes it to `intern`. The symbol of a
// kernel is deterministic: its kind and its index.
class KernelModule {
 public:
  // `core`: of the first target of the module's images. All of them have the same schedules.
  KernelModule(mlir::MLIRContext* context, schedule::Target target, const schedule::Core& core);

  mlir::ModuleOp module() { return module_.get(); }
  const schedule::Target& target() const { return target_; }
  const schedule::Core& core() const { return core_; }
  mlir::MLIRContext* context() { return module_->getContext(); }

  // Makes `function` a kernel, or erases it if an equal kernel exists. Returns the kernel's index
  // in kernels(). `kind` is the prefix of the symbol of a new kernel.
  KernelIndex intern(mlir::func::FuncOp function, llvm::StringRef kind, int buffer_count,
                     int param_count);

  // The function with this name; null if it does not exist.
  mlir::func::FuncOp find(llvm::StringRef name) {
    return module_->lookupSymbol<mlir::func::FuncOp>(name);
  }

  // The private function with this name, which kernels call. The first call creates it by `make`.
  mlir::func::FuncOp shared(llvm::StringRef name,
                            llvm::function_ref<mlir::func::FuncOp(mlir::OpBuilder&)> make);

  const IndexedVector<KernelIndex, Kernel>& kernels() const { return kernels_; }

 private:
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  schedule::Target target_;
  const schedule::Core& core_;
  IndexedVector<KernelIndex, Kernel> kernels_;
  llvm::StringMap<KernelIndex> by_body_;
};

// The module of each device. Devices of one kind may share a module.
using ModulesByDevice = IndexedVector<DeviceIndex, KernelModule*>;

// The builtin type of `dtype` in a memref: f32, f64, or for all other dtypes the integer type of
// their width. f16 and bf16 are i16, because LLVM can move values of type half by calls to a
// compiler's run-time library.
mlir::Type storage_type(mlir::MLIRContext* context, DType dtype);

}  // namespace scopevm::compiler::kernels
