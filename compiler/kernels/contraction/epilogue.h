// Epilogue: the computation on a contraction's sums before they are stored. Adds the bias, applies
// the group's elementwise ops with broadcast or full operands, and stores each result of the group.
#pragma once

#include <vector>

#include "compiler/fusion/contraction_match.h"
#include "compiler/kernels/builder/kernel_builder.h"
#include "llvm/ADT/DenseMap.h"

namespace scopevm::compiler::kernels {

using fusion::Access;
using fusion::FusedContraction;
using fusion::OutputAxes;

class Epilogue {
 public:
  // `bias` (may be null) has one value per row and is a value inside the group.
  Epilogue(const FusedContraction& fused, const OutputAxes& axes, mlir::Value bias = nullptr);

  // True if one batch coordinate suffices to address every operand.
  bool batch_is_one() const;
  void collapse_batch();

  // Declares operands, results and strides. Call after the contraction's own operands.
  void declare(KernelBuilder& k);

  // Computes the start of each operand and result. Call once per batch element.
  void enter(CodeBuilder& e, llvm::ArrayRef<Term> batch_coordinates);
  // Computes the contraction's result and the group's ops for one element (lanes == 1) or for
  // `lanes` elements of one row; `mask` is null for all lanes. `sum` has the arithmetic type of the
  // contraction's element type.
  using ValueMap = llvm::DenseMap<mlir::Value, Term>;
  ValueMap evaluate(CodeBuilder& e, Term sum, Term row, Term column, int64_t lanes, Term mask);
  // Evaluates, and stores the group's results.
  void emit(CodeBuilder& e, Term sum, Term row, Term column, int64_t lanes, Term mask);

 private:
  struct Tensor {
    mlir::Value value;  // inside the group
    Access access;
    Buffer buffer{};
    Terms batch_strides{};
    Term row_stride{};
    Term start{};  // of the current batch element
  };

  void allow_in_place(KernelBuilder& k);
  Term load(CodeBuilder& e, const Tensor& tensor, Term row, Term column, int64_t lanes, Term mask);
  static Term at(const Tensor& tensor, Term row, Term column);

  const FusedContraction& fused_;
  OutputAxes axes_;
  mlir::Value bias_;
  std::vector<Tensor> operands_, results_;
};

}  // namespace scopevm::compiler::kernels
