// What a kernel generator gets and gives. A generator turns one graph op, or one sv.group, into a
// kernel: an MLIR function in the kernels module, and the step that launches it.
//
//   contraction/  matmul, conv          map_reduce/  elementwise, rows, reductions
//   movement/     transpose, concat, gather, ...
//
// A kernel is `func.func @symbol(buffers..., params..., begin, end, worker)`:
//   buffers  one rank-1 `memref<?xT>` per operand, then result, then temporary, all distinct memory
//            except where the step's in_place allows a result to be its operand. T is the
//            builtin type of the dtype (storage_type): bool as i8, u8 as i8, f16 and bf16 as i16,
//            ...
//   params   `index`, one per Step::params
//   begin, end, worker  `index`
// It writes work items [begin, end) of the grid. Sizes come from params: memref.dim of a buffer
// says nothing. Bodies use arith, math, scf, memref, vector, func, and call other functions of the
// same module (private, deduplicated by name).
#pragma once

#include <string>

#include "compiler/kernels/target.h"
#include "compiler/program.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::kernels {

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

// The builtin type whose memref holds elements of `dtype`: bool and (u)int8 as i8, u32 as i32, ...
// f16 and bf16 as i16: as floats, LLVM would call a compiler's run-time library to move them.
mlir::Type storage_type(mlir::MLIRContext* context, DType dtype);
bool is_unsigned(DType dtype);

// Where a generator puts what it made: values, constants and launches of the function being
// lowered. Everything it is given must not depend on the target: kernels of all targets share one
// Program.
class LoweringContext {
 public:
  virtual ~LoweringContext() = default;
  virtual KernelModule& kernels() = 0;

  // The program's value for a graph value (made by an earlier op, an input, or a constant).
  virtual ValueId value_of(mlir::Value value) = 0;
  // The elements of `value` when it is an sv.constant, else null.
  virtual mlir::ElementsAttr constant_of(mlir::Value value) = 0;
  // A new value between two launches of one op.
  virtual ValueId intermediate(llvm::StringRef name, DType dtype, std::vector<DimExpr> shape) = 0;
  // A new constant, such as packed weights. Made once per `key` (what it derives from and how);
  // `make` is called at most once, and only then.
  virtual ValueId constant(const std::string& key, llvm::function_ref<Constant()> make) = 0;
  // The id of a text in str constants: its index in Program::texts.
  virtual int32_t id_of_text(llvm::StringRef text) = 0;
  // Appends a launch. step.operands and step.results name program values.
  virtual void launch(Step step) = 0;
};

// The generators' entry points. Each handles the ops named in its header, inside a group or alone,
// and fails with a diagnostic on `op` (kUnsupported: dtype, rank, attribute) otherwise.
llvm::LogicalResult lower_contraction(mlir::Operation* op, LoweringContext& context);
llvm::LogicalResult lower_map_reduce(mlir::Operation* op, LoweringContext& context);
llvm::LogicalResult lower_movement(mlir::Operation* op, LoweringContext& context);

// Emits the arithmetic of one op of graph::is_elementwise (unary, binary, comparison, select, cast)
// on scalars, or on vectors of equal lane counts, of its operands' arithmetic types: bool is i1
// here, and signedness comes from the op's tensor types. Shared by map_reduce and by contraction's
// epilogues. Null when `op` is not elementwise.
mlir::Value emit_elementwise(mlir::OpBuilder& builder, mlir::Operation* op,
                             mlir::ValueRange operands);
// Converts between the storage type and the arithmetic type (bool i8 <-> i1, f16 and bf16 <-> f32).
mlir::Value load_convert(mlir::OpBuilder& builder, mlir::Location location, DType dtype,
                         mlir::Value stored);
mlir::Value store_convert(mlir::OpBuilder& builder, mlir::Location location, DType dtype,
                          mlir::Value value);

}  // namespace scopevm::compiler::kernels
