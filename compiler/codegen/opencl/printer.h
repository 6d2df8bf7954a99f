// Functions as text: names of values, declarations, and control flow. Values become constants of
// the names v0, v1, ... in the order in which they are made; what a loop carries and what a branch
// gives are variables.
#pragma once

#include <map>
#include <string>

#include "compiler/codegen/opencl/form.h"
#include "compiler/program.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "scopevm/status.h"

namespace scopevm::compiler::codegen::opencl {

class Printer {
 public:
  // `function` as a function of the text: its memrefs lie in global memory.
  Status print_function(mlir::func::FuncOp function);
  // The head of such a function, to stand before its first call.
  Status print_head(mlir::func::FuncOp function);
  // `function` as a kernel of the form that runtime/opencl launches.
  Status print_kernel(mlir::func::FuncOp function, const Kernel& kernel);

  // What was printed, and what has to stand before it.
  const std::string& text() const { return text_; }
  std::string declarations() const;
  bool has_f64() const { return has_f64_; }

  // For what prints single operations.
  const std::string& name(mlir::Value value) const { return names_.find(value)->second; }
  // The form of a value, whose type is declared if need be.
  Form form(mlir::Value value);
  void line(const std::string& text);
  // const T v = text;
  void define(mlir::Value value, const std::string& text);
  // T v; or T v = text;
  const std::string& declare(mlir::Value value, const std::string& text = "");
  // A value without a declaration of its own.
  void bind(mlir::Value value, std::string text) { names_[value] = std::move(text); }
  // False for memrefs of the function's own.
  bool is_global(mlir::Value memref) const { return !private_.contains(memref); }
  const std::string& declare_array(mlir::Value memref, Form element, int64_t count);

  // Single operations with regions or calls. False when the operation, or one inside it, has no
  // form.
  bool print_constant(mlir::arith::ConstantOp op);
  bool print_call(mlir::func::CallOp op);
  bool print_for(mlir::scf::ForOp loop);
  bool print_while(mlir::scf::WhileOp loop);
  bool print_if(mlir::scf::IfOp branch);
  bool print_switch(mlir::scf::IndexSwitchOp choice);

 private:
  std::string fresh() { return "v" + std::to_string(next_++); }
  void begin_function();
  std::string parameters(mlir::func::FuncOp function, bool with_names);
  bool print_block(mlir::Block& block);
  bool print_operation(mlir::Operation& op);
  bool print_by_lane(mlir::Operation& op);
  bool print_elementwise(mlir::Operation& op);
  bool print_region(mlir::Region& region, mlir::ValueRange results);
  // targets = values, all at once.
  void assign(mlir::ValueRange targets, mlir::ValueRange values);
  Status finish(mlir::func::FuncOp function, bool is_printed);

  std::string text_;
  int depth_ = 0;
  int next_ = 0;
  llvm::DenseMap<mlir::Value, std::string> names_;
  llvm::DenseSet<mlir::Value> private_;
  std::map<std::string, std::string> structs_;  // name -> declaration
  bool has_f64_ = false;
  mlir::Operation* unsupported_ = nullptr;
};

}  // namespace scopevm::compiler::codegen::opencl
