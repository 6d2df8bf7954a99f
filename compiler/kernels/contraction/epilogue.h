// Epilogue: the computation on the sums of a contraction before they are stored. It adds the bias,
// applies the group's elementwise ops, and stores each result of the group. Operands of these ops
// can be broadcast.
#pragma once

#include <string>
#include <vector>

#include "compiler/fusion/contraction_match.h"
#include "compiler/kernels/builder/kernel_builder.h"
#include "llvm/ADT/DenseMap.h"

namespace scopevm::compiler::kernels {

using fusion::Access;
using fusion::FusedContraction;

class Epilogue {
 public:
  // `bias` is a value inside the group with one element per row, or null.
  explicit Epilogue(const FusedContraction& fused, mlir::Value bias = nullptr);

  // True if the batch dims can be merged: one batch coordinate then addresses every operand.
  bool batch_is_one() const;
  void collapse_batch();

  // Declares operands, results and strides. REQUIRES: the contraction's own operands are declared.
  void declare(KernelBuilder& k);
  // Like `declare`, but the results are stored in scratch memory, [batch][rows][columns] with
  // `stride` elements between the elements of the last batch dim. Other batch dims have no stride.
  void declare_in_scratch(KernelBuilder& k, const Buffer& scratch, DimExpr stride);
  // Sets the element of the scratch memory at batch coordinate 0 and row 0. It can be before the
  // first element that is stored.
  void set_scratch_base(Term base);

  // Emits the computation of each operand's and result's start for one batch element. `evaluate`
  // and `emit` use these starts.
  void enter(CodeBuilder& e, llvm::ArrayRef<Term> batch_coordinates);
  // Returns the contraction's result and the results of the group's ops for `lanes` adjacent
  // elements of one row. `mask` selects the lanes; null selects all. `sum` has the arithmetic type
  // of the contraction's element type.
  using ValueMap = llvm::DenseMap<mlir::Value, Term>;
  ValueMap evaluate(CodeBuilder& e, Term sum, Term row, Term column, int64_t lanes, Term mask);
  // Like `evaluate`, and stores the group's results.
  void emit(CodeBuilder& e, Term sum, Term row, Term column, int64_t lanes, Term mask);
  // Whether an element can be emitted twice: no result can have the storage of an operand.
  // REQUIRES: `declare` has been called.
  bool is_repeatable() const { return !is_in_place_; }

  // --- A function of the kernel's module can contain the epilogue. ---

  // Whether such a function is small, although it emits the epilogue for many elements.
  bool is_small() const;
  // Equal for two epilogues if one function can contain both.
  std::string key() const;
  // What the function needs. REQUIRES: `enter` has been called.
  llvm::SmallVector<mlir::Value> arguments() const;
  // The epilogue in the function: `next` returns its arguments one by one. Batch coordinates for
  // `enter` are one number, which counts the last batch dim from the coordinate of arguments().
  Epilogue in_function(CodeBuilder& e, llvm::function_ref<mlir::Value()> next) const;

 private:
  struct Tensor {
    mlir::Value value;  // inside the group
    Access access;
    Buffer buffer{};
    Terms batch_strides{};
    Term row_stride{};
    Term base{};   // in a function or in scratch memory: the start at batch coordinate 0
    Term start{};  // of the current batch element
  };

  void declare_operands(KernelBuilder& k);
  static void declare_strides(KernelBuilder& k, Tensor& tensor);
  void allow_in_place(KernelBuilder& k);
  Term load(CodeBuilder& e, const Tensor& tensor, Term row, Term column, int64_t lanes, Term mask);
  static Term at(const Tensor& tensor, Term row, Term column);

  const FusedContraction& fused_;
  mlir::Value bias_;
  std::vector<Tensor> operands_, results_;
  bool is_in_place_ = false;  // a result can have the storage of an operand
};

}  // namespace scopevm::compiler::kernels
