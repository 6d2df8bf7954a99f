// Launch: one kernel and the step that launches it, declared together so that the order of buffers
// and params is written once. First declare, then `begin_body`, then emit, then `finish`.
#pragma once

#include "compiler/kernels/builder/lowering_context.h"
#include "compiler/kernels/contraction/emitter.h"

namespace scopevm::compiler::kernels {

class Launch {
 public:
  struct Buffer {
    enum class Kind : uint8_t { kOperand, kResult, kTemporary } kind;
    size_t index;
  };
  struct Param {
    size_t index = 0;
  };

  Launch(LoweringContext& context, mlir::OpBuilder& builder)
      : context_(context), builder_(builder) {}

  Buffer operand(ValueId value, DType dtype);
  Buffer result(ValueId value, DType dtype);
  // Scratch for each worker, of elements of 4 bytes: f32 or i32.
  Buffer scratch(DimExpr elements, DType dtype = DType::kF32);
  Param param(DimExpr value);
  // Result `r` may take the bytes of operand `o`, unless the operand is read as another one too.
  void allow_in_place(Buffer r, Buffer o);

  // Creates the function; the builder then stands in its body.
  void begin_body();
  mlir::Value operator[](Buffer buffer) const;
  mlir::Value operator[](Param param) const;
  mlir::Value begin() const;
  mlir::Value end() const;
  // Where the calling worker's part of a scratch buffer starts, in elements.
  mlir::Value scratch_start(Emitter& emit, Buffer scratch) const;

  void finish(llvm::StringRef kind, DimExpr grid, DimExpr grain);

 private:
  LoweringContext& context_;
  mlir::OpBuilder& builder_;
  Step step_;
  llvm::SmallVector<DType> operand_types_, result_types_, scratch_types_;
  llvm::SmallVector<Param> scratch_sizes_;
  mlir::func::FuncOp function_;
};

}  // namespace scopevm::compiler::kernels
