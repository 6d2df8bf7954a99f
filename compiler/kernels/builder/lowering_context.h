// LoweringContext: the interface between a kernel generator and the function that is lowered. A
// generator turns one graph op, or one sv.group, into kernels and the steps that launch them.
#pragma once

#include <string>

#include "compiler/kernels/builder/kernel_module.h"
#include "compiler/program/program.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace scopevm::compiler::kernels {

// Resolves values, and collects the constants and launches of the function that is lowered. The
// arguments of its functions must not depend on the target, because the kernels of all targets
// share one Program.
class LoweringContext {
 public:
  virtual ~LoweringContext() = default;
  virtual KernelModule& kernels() = 0;

  // The program's value for a graph value: the result of an earlier op, an input, or a constant.
  virtual ValueId value_of(mlir::Value value) = 0;
  // The elements of `value` if it is an sv.constant, else null.
  virtual mlir::ElementsAttr constant_of(mlir::Value value) = 0;
  // Whether the form of a constant that a kernel reads may take more bytes than the constant. False
  // if the pool that stores it has a limit: placement compares the bytes of the constants with it.
  virtual bool may_pad(mlir::Value constant) = 0;
  // A new value that only the launches of one op use: one launch writes it, and the same launch or
  // a later one reads it.
  virtual ValueId intermediate(llvm::StringRef name, DType dtype, std::vector<DimExpr> shape) = 0;
  // A constant that the compiler computes, such as packed weights. `key` identifies its source and
  // its transformation. If `source` is a constant that is required in a memory scope, the new
  // constant is stored there. `source` may be null. `make` is called only for a new key.
  virtual ValueId constant(const std::string& key, mlir::Value source,
                           llvm::function_ref<Constant()> make) = 0;
  // The index of a string in Program::strings. Elements of string constants are such indices.
  virtual int32_t string_index(llvm::StringRef string) = 0;
  // Appends a copy of `from` to `to`, which later launches may change.
  virtual void copy(ValueId from, ValueId to) = 0;
  // Appends a launch whose `kernel` is an index of kernels().kernels().
  virtual void launch(Step step) = 0;
};

}  // namespace scopevm::compiler::kernels
