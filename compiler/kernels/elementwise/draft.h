// KernelDraft: a kernel function and its launch while they are being made. First its buffers and
// params are declared, then `open` makes the function, then its body is written, then `launch`.
#pragma once

#include <vector>

#include "compiler/kernels/builder/lowering_context.h"
#include "compiler/kernels/builder/term.h"

namespace scopevm::compiler::kernels {

// Indices into the draft's lists, valid before and after `open`.
struct Buffer {
  enum class Role : uint8_t { kOperand, kResult, kTemporary } role = Role::kOperand;
  int index = -1;
  DType dtype = DType::kF32;
};
struct Param {
  int index = -1;
};

class KernelDraft {
 public:
  KernelDraft(LoweringContext& context, mlir::Operation* op);

  // Declarations. Equal operands are declared once.
  Buffer operand(mlir::Value graph_value);
  Buffer result(mlir::Value graph_value);
  Buffer temporary(DType dtype, Temporary temporary);
  Param param(DimExpr expression);
  void in_place(Buffer result, Buffer operand);

  void open();

  // The body's parts; after `open`.
  mlir::OpBuilder& builder() { return builder_; }
  mlir::Location location() const { return location_; }
  LoweringContext& context() { return context_; }
  mlir::Value buffer(Buffer buffer) const;
  mlir::Value param(Param param) const;
  mlir::Value begin() const;
  mlir::Value end() const;
  mlir::Value worker() const;
  Term term(mlir::Value value) { return Term(builder_, location_, value); }
  Term index(int64_t value);

  // Ends the body; interns the kernel and appends its launch.
  void launch(llvm::StringRef kind, DimExpr grid, DimExpr grain);

 private:
  LoweringContext& context_;
  mlir::Location location_;
  mlir::OpBuilder builder_;
  mlir::func::FuncOp function_;
  Step step_;
  std::vector<DType> operand_types_, result_types_, temporary_types_;
};

}  // namespace scopevm::compiler::kernels
