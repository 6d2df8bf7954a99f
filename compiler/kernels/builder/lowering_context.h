// LoweringContext: what a kernel generator gets from, and adds to, the function that is lowered. A
// generator turns one graph op, or one sv.group, into kernels and the steps that launch them.
#pragma once

#include <string>

#include "compiler/kernels/builder/kernel_module.h"
#include "compiler/program.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace scopevm::compiler::kernels {

// Takes the values, constants and launches of the function being lowered. Everything that it is
// given must not depend on the target: kernels of all targets share one Program.
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
  // The index of a string in Program::strings: how string constants store it.
  virtual int32_t string_index(llvm::StringRef string) = 0;
  // Appends a launch, whose `kernel` is an index of kernels().kernels().
  virtual void launch(Step step) = 0;
};

}  // namespace scopevm::compiler::kernels
