// The patterns of an external library: functions of graph ops (docs/external.md, "Patterns").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "scopevm/status.h"

namespace scopevm::compiler::external {

class Patterns {
 public:
  // Parses a module with one function per pattern. Errors: kInvalidArgument. The message names the
  // library and, if the module could be parsed, the pattern.
  static Result<Patterns> parse(std::string_view text, std::string_view library,
                                mlir::MLIRContext& context);

  const std::string& library() const { return library_; }
  // The patterns with the most ops first; otherwise in the order of the text.
  const std::vector<mlir::func::FuncOp>& functions() const { return functions_; }

 private:
  Patterns(std::string_view library, mlir::OwningOpRef<mlir::ModuleOp> module)
      : library_(library), module_(std::move(module)) {}

  std::string library_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::vector<mlir::func::FuncOp> functions_;
};

// True for an op that a pattern may contain: a pure graph op without regions, with one tensor
// result and with type inference.
bool is_pattern_op(mlir::Operation* op);

}  // namespace scopevm::compiler::external
