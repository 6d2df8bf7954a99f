// What a kernel generator gets and gives. A generator turns one graph op, or one sv.group, into a
// kernel: an MLIR function in the kernels module, and the step that launches it.
//
//   contraction/  matmul, conv          map_reduce/  elementwise, rows, reductions
//   movement/     transpose, concat, gather, ...
//
// A kernel is `func.func @symbol(buffers..., params..., begin, end, worker)`:
//   buffers  one rank-1 `memref<?xT>` per operand, then result, then temporary, all distinct memory
//            except where the step's in_place allows a result to be its operand. T is the
//            builtin type of the dtype (storage_type): bool as i8, u8 as i8, bf16 as bf16, ...
//   params   `index`, one per Step::params
//   begin, end, worker  `index`
// It writes work items [begin, end) of the grid. Bodies use arith, math, scf, memref, vector, func, and
// call other functions of the same module (private, deduplicated by name).
#pragma once

#include <string>

#include "compiler/program.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::kernels {

// The vector unit that kernels are generated for. One kernels module per target CPU.
struct Target {
  std::string cpu;         // as LLVM names it
  int vector_bits = 512;   // 512, 256 or 128
  bool has_masks = true;   // AVX-512: masked loads and stores are cheap
  int lanes(int element_bytes) const { return vector_bits / 8 / element_bytes; }
};

// A kernels module under construction. Equal kernels are kept once: a generator builds its function
// under a temporary name, and `intern` either keeps it or erases it in favour of an equal one.
// Symbols are deterministic: kind, then a counter in order of first appearance.
class KernelModule {
 public:
  KernelModule(mlir::MLIRContext* context, Target target);

  mlir::ModuleOp module() { return module_.get(); }
  const Target& target() const { return target_; }
  mlir::MLIRContext* context() { return module_->getContext(); }

  // `function` becomes a kernel; returns the index for Step::kernel. `kind` starts its symbol.
  // Erases `function` when an equal one exists.
  int intern(mlir::func::FuncOp function, llvm::StringRef kind, int buffer_count, int param_count);

  // A private function that kernels call, made once per name.
  mlir::func::FuncOp shared(llvm::StringRef name,
                            llvm::function_ref<mlir::func::FuncOp(mlir::OpBuilder&)> make);

  const std::vector<Kernel>& kernels() const { return kernels_; }

 private:
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  Target target_;
  std::vector<Kernel> kernels_;
  llvm::StringMap<int> by_body_;
};

// How a graph value is seen by a kernel: a buffer of the step, or a constant small enough to be part
// of the code (rank 0, or all elements equal).
mlir::Type storage_type(mlir::MLIRContext* context, DType dtype);
bool is_unsigned(DType dtype);

// The launch that a generator describes, in graph values; the kernels stage turns it into a Step.
struct Launch {
  int kernel = -1;
  llvm::SmallVector<mlir::Value> operands;  // graph values, or constants that it made
  llvm::SmallVector<mlir::Value> results;   // results of the op, each once
  std::vector<Temporary> temporaries;
  std::vector<DimExpr> params;
  DimExpr grid = 1;
  DimExpr grain = 1;
  std::vector<Step::InPlace> in_place;
};

// A launch per kernel that the op needs, in order. Values between them that are no graph values are
// temporaries of type TensorType, made with `intermediate`.
struct Lowering {
  std::vector<Launch> launches;
};

}  // namespace scopevm::kernels
