// One graph function -> a Program function. Private to compiler/kernels.
//   function_lowering.cpp  values, and ops in order
//   control_flow.cpp       sv.if, sv.loop, sv.read_dims
//   calls.cpp              sv.call, closures
//   lists.cpp              sv.list and what reads and changes lists
//   slice_view.cpp         slices that are parts of what they slice
//   separate_results.cpp   before both: what leaves a region or the function gets bytes of its own
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/function/constant_table.h"
#include "compiler/kernels/generator.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::compiler::kernels {

using graph::op_name;

// The value that this one is a view of, through reshapes.
mlir::Value viewed(mlir::Value value);

// Copies, as sv.expand to the same dims, what a function returns, a region yields or a loop starts
// from, where the value's bytes are not its own to give: an input, a constant, a view, a value of
// another block, one that leaves twice. Does nothing the second time.
void separate_results(mlir::func::FuncOp function);

class FunctionLowering : public LoweringContext {
 public:
  // Indexes of the program's functions, by name.
  using Functions = std::map<std::string, int, std::less<>>;

  // What the program calls a kernel: by its device, and its index in the device's module.
  using KernelIndexes = std::map<std::pair<int, int>, int>;

  FunctionLowering(Program& program, ConstantTable& constants,
                   llvm::ArrayRef<KernelModule*> kernels, KernelIndexes& kernel_indexes,
                   const Functions& functions)
      : program_(program),
        constants_(constants),
        kernels_(kernels),
        kernel_indexes_(kernel_indexes),
        functions_(functions) {}

  // `dims` bounds the names of the parameters' dims; those without a bound get `any`.
  Status run(mlir::func::FuncOp function, const std::map<std::string, DimBound>& dims,
             const DimBound& any);

  // --- LoweringContext. ---
  KernelModule& kernels() override { return *kernels_[device_]; }
  ValueId value_of(mlir::Value value) override;
  mlir::ElementsAttr constant_of(mlir::Value value) override;
  ValueId intermediate(llvm::StringRef name, DType dtype, std::vector<DimExpr> shape) override;
  ValueId constant(const std::string& key, llvm::function_ref<Constant()> make) override;
  int32_t id_of_text(llvm::StringRef text) override;
  void launch(Step step) override;

  // --- Ops that become steps without kernels. ---
  llvm::LogicalResult lower(graph::ReshapeOp op);      // function_lowering.cpp
  llvm::LogicalResult lower(graph::ReadDimsOp op);     // control_flow.cpp
  llvm::LogicalResult lower(graph::IfOp op);           // control_flow.cpp
  llvm::LogicalResult lower(graph::LoopOp op);         // control_flow.cpp
  llvm::LogicalResult lower(graph::CallOp op);         // calls.cpp
  llvm::LogicalResult lower(graph::CallClosureOp op);  // calls.cpp
  llvm::LogicalResult lower(graph::ClosureOp op);      // calls.cpp
  llvm::LogicalResult lower(graph::ListOp op);         // lists.cpp
  llvm::LogicalResult lower(graph::ListGetOp op);      // lists.cpp
  llvm::LogicalResult lower(graph::ListInsertOp op);   // lists.cpp
  llvm::LogicalResult lower(graph::ListEraseOp op);    // lists.cpp
  llvm::LogicalResult lower(graph::ListSizeOp op);     // lists.cpp
  // A step of one kind from the op's operands to its results.
  void add_step(Step step, mlir::Operation* op);

 private:
  // What a loop carries from iteration to iteration.
  struct Carried {
    mlir::Value argument;
    ValueId value = -1;    // body argument i and result i, in one register
    bool is_open = false;  // its shape changes
  };

  ValueId add_value(Value value);
  ValueId add_value(const std::string& name, mlir::Type type);
  ValueId add_constant(Constant constant, int device);
  Constant make_constant(mlir::ElementsAttr elements, mlir::Value value);
  void collect_dimensions(const std::map<std::string, DimBound>& bounds, const DimBound& any);
  void collect_own_checks(mlir::Operation* op);

  llvm::LogicalResult lower_block(mlir::Block& block);
  llvm::LogicalResult lower_op(mlir::Operation* op);
  Place place_of(mlir::Type type) const;
  static bool is_scope_asked(mlir::Type type);
  int device_running(mlir::Operation* op) const;

  // --- slice_view.cpp ---
  static bool is_part(graph::SliceOp slice);
  void lower_part(graph::SliceOp slice);

  // --- calls.cpp ---
  void lower_call(mlir::Operation* op, Step call, mlir::ArrayAttr symbols);

  // --- lists.cpp ---
  ValueId add_list(const std::string& name, graph::ListType type);
  ValueId element_of(mlir::Value value);

  // --- control_flow.cpp ---
  int new_stage(std::vector<Birth> births);
  int push(Step step);
  void check_born(const Step& step);
  void check_born(const std::string& name, llvm::ArrayRef<DimExpr> dims);
  void check_results_born(mlir::Operation* op);
  llvm::LogicalResult lower_branch(graph::IfOp op, mlir::Block& block,
                                   const std::vector<bool>& is_open);
  std::vector<Carried> begin_carried(graph::LoopOp op);
  void begin_gathered(graph::LoopOp op, Step& loop);
  void end_carried(graph::LoopOp op, const std::vector<Carried>& carried, int begin);
  void end_loop(graph::LoopOp op, const std::vector<Carried>& carried, int begin);
  bool take_over(ValueId next, ValueId current, int begin);
  void rename(ValueId from, ValueId to, int begin);
  void add_dim_births(mlir::ArrayAttr symbols, mlir::Type type, int operand,
                      const std::string& what, std::vector<Birth>& births) const;
  ValueId root_of(ValueId id) const;

  Program& program_;
  ConstantTable& constants_;
  llvm::ArrayRef<KernelModule*> kernels_;  // by device
  KernelIndexes& kernel_indexes_;
  const Functions& functions_;
  Function function_;
  llvm::DenseMap<mlir::Value, ValueId> ids_;
  std::map<std::string, ValueId> constants_by_key_;
  mlir::Operation* current_ = nullptr;
  int device_ = 0;                           // that runs it
  int scope_ = 0;                            // the stage of the block at hand
  std::set<std::string, std::less<>> born_;  // symbols of the stages that the block at hand sees
  Status status_;
};

}  // namespace scopevm::compiler::kernels
