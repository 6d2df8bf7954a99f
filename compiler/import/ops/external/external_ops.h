// ONNX ops that external functions compute: the declarations of CompileOptions::external_functions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/import/import.h"
#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

class ExternalOps {
 public:
  // Parses declarations, sv.extern ops. `name` is the name of the text in messages. No text: no
  // declarations. Errors: kInvalidModel.
  static Result<ExternalOps> parse(const std::string& text, const std::string& name,
                                   mlir::MLIRContext& context);

  // `op` is the domain of an ONNX op, a dot and its type.
  bool contains(const std::string& op) const { return declarations_.contains(op); }

  // Calls the first function declared for `op` that takes the element types and ranks of the
  // node's inputs, and adds its declaration to `module`. Dims that may differ from the declared
  // ones are checked in each request. The node fails if there is no such function, or if a result
  // has a dim that no operand determines.
  Values call(Node& node, const std::string& op, mlir::ModuleOp module) const;

 private:
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::map<std::string, std::vector<graph::ExternOp>> declarations_;  // by op, in file order
};

}  // namespace scopevm::compiler::frontend
