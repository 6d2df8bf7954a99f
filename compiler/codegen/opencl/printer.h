// Prints functions as OpenCL C source. Most values become `const` variables v0, v1, ..., numbered
// in order of definition. Loop-carried values and results of branches become variables that are
// assigned. The results of scalar arith.constant ops are printed as literals where they are used.
#pragma once

#include <map>
#include <string>

#include "compiler/codegen/opencl/form.h"
#include "compiler/program/program.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "scopevm/status.h"

namespace scopevm::compiler::codegen::opencl {

class Printer {
 public:
  // Prints `function` as an OpenCL C function. Its memref arguments are in global memory.
  Status print_function(mlir::func::FuncOp function);
  // Prints the function's prototype, which must precede its first call.
  Status print_head(mlir::func::FuncOp function);
  // Prints `function` as a kernel with the signature that runtime/opencl launches.
  Status print_kernel(mlir::func::FuncOp function, const Kernel& kernel);

  // The printed functions, and the declarations that must precede them.
  const std::string& text() const { return text_; }
  std::string declarations() const;
  bool has_f64() const { return has_f64_; }

  // --- Used by the printers of single operations (op_printers.h). ---
  const std::string& name(mlir::Value value) const { return names_.find(value)->second; }
  // The form of a value. Declares its type if necessary.
  Form form(mlir::Value value);
  void line(const std::string& text);
  // Prints `const T v = text;`, where v is a new name of the value.
  void define(mlir::Value value, const std::string& text);
  // Prints `T v;` or `T v = text;`, and returns v, a new name of the value.
  const std::string& declare(mlir::Value value, const std::string& text = "");
  // Binds a value to an expression instead of a declared name.
  void bind(mlir::Value value, std::string text) { names_[value] = std::move(text); }
  // False for memrefs that the function allocates.
  bool is_global(mlir::Value memref) const { return !private_.contains(memref); }
  const std::string& declare_array(mlir::Value memref, Form element, int64_t count);

  // Each of these prints one operation and its regions. Returns false if the printer does not
  // support the operation, or an operation in its regions.
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
  // A parallel assignment: targets = values.
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
